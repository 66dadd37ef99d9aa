"""Every text of the interface that does not stand in the line of a command, in one table.

`str.format` fills the names in braces; their values are plain text, never markup. A pair holds the form for a count of
one and the form for any other count, for `numbers.counted`. Keys are written `Ctrl+T`, `Esc`, `F1`, `Enter`.
"""

APP = "roo-tui"
DEMO = "DEMO"
DEMO_TIP = "Demo: the model's answers are scripted. Tools, files, tests and the database are real."
DEMO_TASK = "Fix the failing date test"

# an empty task
WELCOME_TITLE = "What shall we work on?"
WELCOME_TEXT = (
    "Describe a task in your own words. The agent reads and edits files and runs commands here, and asks before it "
    "changes anything."
)
WELCOME_DEMO = "Try this: {task}"
WELCOME_DEMO_KEYS = "Tab or Enter puts it into the prompt; Enter then sends it."
WELCOME_KEYS = (
    ("/", "commands"),
    ("@", "files"),
    ("Ctrl+J", "new line"),
    ("Ctrl+T", "condense the context"),
    ("Ctrl+R", "rewind"),
    ("F1", "all keys"),
)

# keys whose usual name is not the one Textual gives them
KEY_NAMES = {"escape": "Esc", "pageup": "PgUp", "pagedown": "PgDn"}

# header
TODO_COUNT = ("{done} of {total} todo", "{done} of {total} todos")
PRICE_UNKNOWN = "price unknown"
READ_ONLY = "read only"

# context bar
CONTEXT_USED = "{used} of {window}"
CONTEXT_RESERVED = "reserved {reserved}"
CONTEXT_TRIGGER = "condense at {trigger}"
CONTEXT_AUTO_OFF = "automatic condense off"
CONTEXT_TIP = (
    "Context window: {window} tokens\nused {used} · free {available}\nreserved for the answer {reserved}\n{when}"
)
CONTEXT_TIP_AUTO = "condenses automatically at {trigger}"
CONTEXT_TIP_MANUAL = "automatic condense is off; the trigger is {trigger}"
CONTEXT_UNKNOWN = "context: nothing sent yet"
CONDENSE = "Condense"
CONDENSE_TIP = "Replace older messages with a summary. They stay readable, and F8 undoes it."

# activity
STARTING = "Starting…"
WORKING = "Working…"
CONDENSING = "Condensing context…"
CONDENSING_MORE = "Condensing context…  {count} so far"
CHARACTERS = ("{count} character", "{count} characters")
CONDENSE_PENDING = "Condenses at the next pause"
RETRY = "Retrying in {seconds} s ({attempt} of {of})  {cancel}  {reason}"
ESC_CANCELS = "Esc cancels"
ESC_INTERRUPTS = "Esc interrupts"
WAITING_FOR_ANSWER = "Waiting for your answer"
CANCELLING = "Cancelling…"
SECONDS = "{count} s"

# prompt
PROMPT_PLACEHOLDER = "ask, /command, @file"
PROMPT_SEND = "Enter sends"
PROMPT_QUEUE = "Enter queues"
PROMPT_SAVE = "Enter saves · Esc discards the edit"
PROMPT_HELP = "Enter sends, Ctrl+J starts a new line. / lists commands, @ lists files, ↑ ↓ bring back earlier messages."
NOT_READY = "Still starting; your message will be sent as soon as it is ready."

# queue
QUEUED = "queued"
QUEUE_EDIT = "edit"
QUEUE_REMOVE = "remove"
QUEUE_HELP = "Enter edits the queued message, Delete removes it."

# approval and questions
APPROVE_TITLE = "Allow {tool}?"
ALLOW = "Allow"
ALWAYS = "Always allow"
DENY = "Deny"
FEEDBACK = "Deny, say why"
FEEDBACK_PLACEHOLDER = "What should the agent do instead? Enter denies with this text, Esc goes back."
APPROVE_HELP = "y allows, a allows it for the rest of the task, n denies, f denies and tells the model why."
ANSWER_PLACEHOLDER = "or type your own answer; Enter sends it"
QUESTION_HELP = "A number picks an option; Tab goes to the line for your own answer."
TAB_ANSWERS = "Shift+Tab to answer"

# todo list
TODOS_FOLDED = "▸ {count}"
TODOS_OPEN = "▾ {count}"

# transcript
YOU = "you"
INTERRUPTED = "interrupted"
THINKING = "Thinking…"
THOUGHT = "Thought"
TOOL_STATE = {
    "streaming": "being written",
    "waiting": "waiting for you",
    "running": "running",
    "denied": "denied",
    "lost": "interrupted",
}
ALLOWED = "allowed"
TOOK = "{seconds} s"
CHECKPOINT = "Checkpoint"
CHECKPOINT_FIRST = "before the first change"
FILES = ("{count} file", "{count} files")
FOLDED_ROWS = ("{count} earlier row, not in context", "{count} earlier rows, not in context")
NEW_BELOW = "↓ new below"
TRANSCRIPT_HELP = "↑ ↓ choose a row, Enter opens or folds it, the keys in its title act on it, End goes to the newest."

# transcript: reductions
REDUCTION = {"condense": "Context condensed", "truncation": "Context truncated", "mask": "Duplicates hidden"}
REDUCTION_OFF = "undone"
TOKENS_CHANGE = "{before} → {after} tokens"
COVERED = "A later change builds on this one: undo {entry} first."
ANALYSIS = ("Analysis, {count} word", "Analysis, {count} words")
RECEIPT = ("Receipt: {count} thing not in the summary", "Receipt: {count} things not in the summary")
RECEIPT_APPENDED = "The receipt was added to the summary."

# transcript: the keys of a row
HINT_COPY = "copy"
HINT_UNDO = "undo"
HINT_REDO = "redo"
HINT_CONDENSE_INSTEAD = "condense instead"
HINT_APPEND_RECEIPT = "append receipt"
HINT_RETRY = "retry"
HINT_OTHER_MODEL = "other model"

# transcript: what tools show
NO_OUTPUT = "no output"
TIMED_OUT = "stopped at its time limit"
NOTHING_FOUND = "nothing found"
MORE = "… {count} more"
NOT_SHOWN = "… {count} characters not shown …"
LINE_CUT = "… {count} more characters"

# small dialogs
YES = "Yes"
NO = "No"
QUIT_AGAIN = "Press Ctrl+C again to quit; everything is saved."
RESUME_WITH = "To continue this task: roo-tui {options}--resume {task_id}"
CHOOSE_FILTER = "type to filter"
CHOOSE_KEYS = "↑ ↓ choose · Enter selects · Esc back"

# no key
NO_KEY_TITLE = "No API key yet"
NO_KEY_TEXT = (
    "roo-tui needs an API key. Set it in the environment and start again:\n\n"
    "    export ANTHROPIC_API_KEY=…\n\n"
    "Or try the demo first: it works offline, on a sample project in a temporary folder. Only its model is scripted."
)
NO_KEY_DEMO = "Start the demo"
NO_KEY_QUIT = "Quit"

# notices
NOTICES_TITLE = "Recent notices"
NOTICES_KEYS = "Esc back"
NOTICES_EMPTY = "No notices yet."
NOTICE_DISMISS = "Esc ×"

# context
CONTEXT_TITLE = "Context"
CONTEXT_KEYS = "Enter row · x pin · m duplicates · t compare · c condense · p preview · Esc"
CONTEXT_TOTAL = "{used} of {window} tokens, {percent} %"
CONTEXT_TO_GO = "{left} to go until the condense at {trigger}"
CONTEXT_OVER = "over the condense trigger ({trigger})"
CONTEXT_EMPTY = "The context is still empty."
CONTEXT_ENTRIES = "Entries, oldest first"
CONTEXT_PIN = "●"
CONTEXT_PINNED = "● pinned: {count}"
CONTEXT_PINNED_HIDDEN = "hidden; kept word for word"

# comparison of strategies
COMPARE_TITLE = "Compare strategies"
COMPARE_KEYS = "↑ ↓ choose · Enter condenses with it · Esc back"
COMPARE_RUNNING = "Comparing…"
COMPARE_HEAD = ("strategy", "tokens after", "frees", "kept")
COMPARE_BEFORE = "{tokens} tokens now, {facts} to keep (files, commands, todo items, your request)."
COMPARE_FACTS = ("{count} fact", "{count} facts")
COMPARE_NO_MODEL = (
    "Nothing has changed and no model was asked: the summaries here are outlines. A real one costs a request, and its "
    "length and content differ."
)

# condense preview
PREVIEW_TITLE = "Condense preview"
PREVIEW_KEYS = "Enter condenses · Esc back"
ABOUT = "about {count}"
PREVIEW_TOKENS = "{before} → {after} tokens, {percent}"
PREVIEW_UNCHANGED = "{before} tokens, unchanged"
PREVIEW_COST = "costs {cost}"
PREVIEW_SAVES = "saves {saving} a turn"
PREVIEW_SAVES_NOTHING = "saves nothing"
PREVIEW_PAYS = ("paid back after {count} turn", "paid back after {count} turns")
PREVIEW_NEVER = "does not pay for itself"

# find
FIND_TITLE = "Find"
FIND_PLACEHOLDER = "search this task"
FIND_KEYS = "↑ ↓ choose · Enter shows the row · Esc back"
FIND_NOTHING = "Nothing found in this task."
FIND_HINT = "Searches the whole task: what is in context, what is hidden, and branches that a rewind left."
FIND_WHERE = {"context": "in context", "hidden": "hidden", "branch": "other branch"}
FIND_OTHER_BRANCH = "That entry is on a branch that a rewind left; undo the rewind to see it."

# rewind
REWIND_TITLE = "Rewind"
REWIND_EMPTY = "There is nothing to rewind to yet."
REWIND_KIND = {"user": "message", "tool": "step", "condense": "condense"}
REWIND_MESSAGES = ("Removes {count} message", "Removes {count} messages")
REWIND_NO_MESSAGES = "Removes no messages"
REWIND_WORDS_BACK = "The message returns to the prompt for editing."
REWIND_NO_FILES = "Changes no files"
REWIND_FILES = ("Changes {count} file", "Changes {count} files")
REWIND_FILES_IMPOSSIBLE = "No checkpoint here; only the conversation can be rewound."
REWIND_SKIPPED = "cannot be restored: {names}"
REWIND_CONFLICT = "changed by you"
REWIND_BOTH = "Both"
REWIND_CONVERSATION = "Conversation"
REWIND_ONLY_FILES = "Files"
REWIND_BOTH_TIP = "Rewind the conversation and the files"
REWIND_CONVERSATION_TIP = "Rewind the conversation and leave the files as they are"
REWIND_FILES_TIP = "Rewind the files and leave the conversation as it is"
REWIND_KEYS = "↑ ↓ choose · b both · c conversation · f files · Esc back"
REWIND_CONFLICT_TITLE = "Overwrite your own changes?"
REWIND_CONFLICT_TEXT = "You changed these files since the last checkpoint:\n\n{names}\n\nF8 undoes the rewind."
REWIND_CONFLICT_YES = "Overwrite"
REWIND_CONFLICT_NO = "Keep them"
REWIND_MORE_CONFLICTS = "… and {count} more"
FILE_ACTION = {"restore": "restored", "delete": "deleted", "create": "brought back"}

# tasks
TASKS_TITLE = "Tasks"
TASKS_SEARCH = "search titles and folders"
TASKS_EMPTY = "No tasks yet."
TASKS_NONE_FOUND = "No task matches."
TASKS_UNTITLED = "untitled"
TASKS_KEYS = "↑ ↓ choose · Enter resumes · Ctrl+N new task · Esc back"
TASKS_ENTRIES = ("{count} entry", "{count} entries")

# settings
SETTINGS_TITLE = "Settings"
SETTINGS_KEYS = "Tab next · Ctrl+S saves · Esc back"
SETTINGS_NOTHING = "Nothing was changed."
SETTINGS_DISCARD_TITLE = "Discard your changes?"
SETTINGS_DISCARD_TEXT = ("{count} changed setting is not saved.", "{count} changed settings are not saved.")
SETTINGS_DISCARD_YES = "Discard"
SETTINGS_DISCARD_NO = "Keep editing"
SETTINGS_UNSAVED = "not saved yet"
SETTINGS_SOURCE = "from: {source}"
SETTINGS_NOT_SET = "not set"
SETTINGS_BUILT_IN = "The built-in prompt; edit it to use your own."
SETTINGS_CUSTOM = "Your own prompt."
SETTINGS_RESET = "Reset to the built-in prompt"
SETTINGS_RESET_UNSAVED = "Reset to the built-in prompt; not saved yet"
SETTINGS_THRESHOLD = "{percent} % of {window} is {tokens} tokens; a condense is due at {trigger}."
SETTINGS_THRESHOLD_AUTO = "A condense is due where it pays for itself at the model's prices; the context bar shows it."
SETTINGS_PROBLEM = "{setting} {problem}"
SETTINGS_SECTION = {
    "context": "Condensing",
    "profile": "Profile",
    "approvals": "Approvals",
    "checkpoints": "Checkpoints",
    "hooks": "Hooks",
    "appearance": "Appearance",
}
SETTINGS_ACTIVE_PROFILE = "Active profile"
SETTINGS_ACTIVE_PROFILE_SENTENCE = "Used from the next request on."
SETTINGS_LIST_HINT = "separate several with commas"
SETTINGS_PROBLEMS = "Problems in the settings"
SETTINGS_DEFAULT_CHOICE = "built-in"
PROFILE_NEW = "New"
PROFILE_COPY = "Copy"
PROFILE_DELETE = "Delete"
PROFILE_NAME_TITLE = "Name of the new profile"
PROFILE_NAME_PLACEHOLDER = "letters, digits, - and _"
PROFILE_NAME_KEYS = "Enter creates · Esc back"
PROFILE_NAME_TAKEN = "There is already a profile of this name."
PROFILE_NAME_INVALID = "Use only letters, digits, - and _."
PROFILE_DELETE_TITLE = "Delete the profile “{name}”?"
PROFILE_DELETE_TEXT = "Its settings are removed from the file, and the profile “{next}” becomes active."
PROFILE_DELETE_YES = "Delete"
PROFILE_DELETE_NO = "Keep it"
PROFILE_MADE = "Profile “{name}” created; used from the next request on."
PROFILE_DELETED = "Profile “{name}” deleted."
PROFILE_CHOSEN = "Profile “{name}” is used from the next request on."

# theme
THEME_TITLE = "Theme"
NO_SUCH_THEME = "There is no theme “{name}”; /theme lists them."

# help
HELP_TITLE = "Help"
HELP_KEYS = "Esc closes"
HELP_HERE = "Where you are"
HELP_PROMPT = "In the prompt"
HELP_COMMANDS = "Commands"
HELP_PROMPT_KEYS = (
    ("Enter", "Send; queue while the agent works"),
    ("Ctrl+J", "New line; so does Shift+Enter where the terminal can tell it from Enter"),
    ("↑ ↓", "Earlier messages, from the first and the last line"),
    ("/", "Commands"),
    ("@", "Files"),
    ("Esc", "Close, cancel or interrupt"),
    ("Tab", "Go to the transcript and back"),
    ("Ctrl+D", "Quit if the prompt is empty; so does Ctrl+C twice"),
)
HELP_TRANSCRIPT = "In the transcript"
HELP_CONTEXT = "In the context screen"
HELP_CONTEXT_KEYS = (
    ("Enter", "Show the entry's row"),
    ("x", "Pin or unpin the entry; every condense keeps the text of a pinned entry word for word"),
    ("m", "Hide duplicates, without asking a model"),
    ("t", "Compare what each strategy would free, and condense with one"),
    ("c", "Condense"),
    ("p", "Preview a condense"),
)

# notices that belong to no screen
UNEXPECTED = "An unexpected error occurred. The details are in {file}."
COPIED = "Copied."
NO_SUCH_COMMAND = "There is no command “/{name}”. Type / to see all."
CONDENSE_REFUSED = "Not condensed: {message}"
CONDENSE_CANCELLED = "Condense cancelled; nothing changed."
START_FAILED_TITLE = "roo-tui cannot start"

# time
JUST_NOW = "just now"
MINUTES_AGO = "{count} min ago"
HOURS_AGO = "{count} h ago"
DAYS_AGO = "{count} d ago"
