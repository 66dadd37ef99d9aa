"""Every word of the interface that is not the title or help of a command, in one table.

Names in braces are filled with `str.format`; their values are plain text, never markup.
"""

APP = "roo-tui"
DEMO = "DEMO"
DEMO_TIP = "Demo: the model's words are scripted. Tools, files, tests and the database are real."

DEMO_TASK = "Fix the failing date test"

# an empty task
WELCOME_TITLE = "What should be done?"
WELCOME_TEXT = "Say it in your own words; the agent reads, edits and runs things here, and asks before it changes any."
WELCOME_DEMO = "Try this: {task}"
WELCOME_DEMO_KEYS = "Tab or Enter puts it into the prompt, Enter then sends it."
WELCOME_KEYS = (
    ("/", "commands"),
    ("@", "files"),
    ("^j", "new line"),
    ("^t", "condense the context"),
    ("^r", "rewind"),
    ("f1", "all keys"),
)

# header
TODO_COUNT = "{done} of {total} todos"
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
CONTEXT_TIP_AUTO = "condenses by itself at {trigger}"
CONTEXT_TIP_MANUAL = "automatic condensing is off; limit {trigger}"
CONTEXT_UNKNOWN = "context: nothing sent yet"
CONDENSE = "Condense"
CONDENSE_TIP = "Summarise older messages to free the context window. They stay readable, and it can be undone."

# activity
STARTING = "Starting…"
WORKING = "Working…"
CONDENSING = "Condensing context…"
CONDENSING_MORE = "Condensing context…  {count} characters so far"
CONDENSE_PENDING = "Condense at the next pause"
RETRY = "Trying again in {seconds} s ({attempt} of {of})  {cancel}  {reason}"
ESC_CANCELS = "esc cancels"
ESC_INTERRUPTS = "esc interrupts"
WAITING_FOR_ANSWER = "Waiting for your answer"
CANCELLING = "Cancelling…"

# prompt
PROMPT_PLACEHOLDER = "ask, /command, @file"
PROMPT_SEND = "⏎ send"
PROMPT_QUEUE = "⏎ queue"
PROMPT_SAVE = "⏎ save · esc keep"
PROMPT_HELP = "Enter sends, Ctrl+J starts a new line. / lists commands, @ lists files, ↑ ↓ go through what you sent."
NOT_READY = "Still starting; your message is sent as soon as it is ready."

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
FEEDBACK = "Deny, and say why"
FEEDBACK_PLACEHOLDER = "What should be done instead? Enter denies with these words, Esc goes back."
APPROVE_HELP = "y allows, a allows it for the rest of the task, n denies, f denies and tells the model why."
ANSWER_PLACEHOLDER = "or type your own answer, Enter sends it"
QUESTION_HELP = "A number picks an option; Tab goes to the line for your own answer."
TAB_ANSWERS = "shift+tab goes there"

# todos
TODOS_FOLDED = "▸ {done} of {total} todos"
TODOS_OPEN = "▾ {done} of {total} todos"

# dialogs
YES = "Yes"
NO = "No"
CLOSE = "Close"
QUIT_AGAIN = "Press Ctrl+C once more to quit; everything is saved."
RESUME_WITH = "To go on with this task: roo-tui {options}--resume {task_id}"
CHOOSE_FILTER = "type to filter"
CHOOSE_KEYS = "↑ ↓ choose · enter takes it · esc back"

# no key
NO_KEY_TITLE = "No API key yet"
NO_KEY_TEXT = (
    "roo-tui needs a key of your model's provider. Put it into the environment and start again:\n\n"
    "    export ANTHROPIC_API_KEY=…\n\n"
    "Or look around first: the demo works offline on a sample project in a temporary folder. Its model is scripted, "
    "everything else is real."
)
NO_KEY_DEMO = "Start the demo"
NO_KEY_QUIT = "Quit"

# notices
NOTICES_TITLE = "Notices"
NOTICES_KEYS = "esc back"
NOTICES_EMPTY = "Nothing was said yet."
NOTICE_DISMISS = "esc ×"

# what fills the context
CONTEXT_TITLE = "Context"
CONTEXT_KEYS = "enter row · x pin · m mask repeats · t compare · c condense · p forecast · esc"
CONTEXT_TOTAL = "{used} of {window} tokens, {percent} %"
CONTEXT_TO_GO = "{left} to go until the condense at {trigger}"
CONTEXT_OVER = "a condense is due since {trigger}"
CONTEXT_EMPTY = "Nothing fills the context window yet."
CONTEXT_ENTRIES = "Entries, oldest first"
CONTEXT_PIN = "●"
CONTEXT_PINNED = "● pinned: {count}"
CONTEXT_PINNED_HIDDEN = "hidden; kept word for word"

# what each strategy would free
COMPARE_TITLE = "Compare strategies"
COMPARE_KEYS = "↑ ↓ choose · enter condenses with it · esc back"
COMPARE_RUNNING = "Comparing…"
COMPARE_HEAD = ("strategy", "tokens after", "frees", "kept")
COMPARE_BEFORE = "{tokens} tokens now; {count} facts in them must survive (files, commands, todos, your request)."
COMPARE_NO_MODEL = (
    "Nothing was changed and no model was asked: summaries are outlines here. A real one costs a request, and its "
    "length and what it keeps differ."
)

# find
FIND_TITLE = "Find"
FIND_PLACEHOLDER = "words to look for"
FIND_KEYS = "↑ ↓ choose · enter shows the row · esc back"
FIND_NOTHING = "Nothing in this task holds these words."
FIND_HINT = "Searches this task: what is in context, what markers hide, and what a rewind left behind."
FIND_WHERE = {"in context": "in context", "hidden": "hidden", "branch": "other branch"}
FIND_OTHER_BRANCH = "That entry is on a branch a rewind left; undo the rewind to see it."

# forecast
FORECAST_TITLE = "Before you condense"
FORECAST_KEYS = "enter condenses · esc back"
FORECAST_NONE = "No forecast is possible here; Enter condenses without one."
FORECAST_TOKENS = "{before} → {after} tokens, {percent} %"
FORECAST_COST = "costs {cost}"
FORECAST_SAVES = "saves {saving} a turn"
FORECAST_PAYS = "paid back after {turns}"
FORECAST_NEVER = "does not pay for itself"
FORECAST_ONE_TURN = "1 turn"
FORECAST_TURNS = "{count} turns"

# rewind
REWIND_TITLE = "Rewind"
REWIND_EMPTY = "There is nothing to rewind to yet."
REWIND_KIND = {"user": "message", "tool": "step", "condense": "condense", "answer": "answer"}
REWIND_MESSAGES = "{count} messages go out of the conversation"
REWIND_ONE_MESSAGE = "1 message goes out of the conversation"
REWIND_WORDS_BACK = "Its words return to the prompt for editing."
REWIND_NO_FILES = "No files change."
REWIND_FILES = "{count} files change"
REWIND_ONE_FILE = "1 file changes"
REWIND_FILES_IMPOSSIBLE = "Files cannot be restored here: there is no snapshot of this moment."
REWIND_SKIPPED = "not restorable: {names}"
REWIND_CONFLICT = "changed by you"
REWIND_BOTH = "Both"
REWIND_CONVERSATION = "Conversation"
REWIND_ONLY_FILES = "Files"
REWIND_BOTH_TIP = "Conversation and files go back to this point"
REWIND_CONVERSATION_TIP = "Only the conversation goes back; files stay as they are"
REWIND_FILES_TIP = "Only files go back; the conversation stays as it is"
REWIND_KEYS = "↑ ↓ choose · b both · c conversation · f files · esc back"
REWIND_CONFLICT_TITLE = "Overwrite your own changes?"
REWIND_CONFLICT_TEXT = "Changed outside the agent since its last snapshot:\n\n{names}\n\nThe rewind can be undone."
REWIND_CONFLICT_YES = "Overwrite"
REWIND_CONFLICT_NO = "Keep them"
FILE_ACTION = {"restore": "restored", "delete": "deleted", "create": "brought back"}

# tasks
TASKS_TITLE = "Tasks"
TASKS_SEARCH = "search titles and folders"
TASKS_EMPTY = "No task yet."
TASKS_NONE_FOUND = "No task matches."
TASKS_UNTITLED = "untitled"
TASKS_KEYS = "↑ ↓ choose · enter resumes · ctrl+n new task · esc back"
TASKS_ENTRIES = "{count} entries"

# settings
SETTINGS_TITLE = "Settings"
SETTINGS_KEYS = "tab next · ctrl+s saves · esc back"
SETTINGS_SAVED = "Settings saved. They hold from the next request on."
SETTINGS_NOTHING = "Nothing was changed."
SETTINGS_DISCARD_TITLE = "Discard your changes?"
SETTINGS_DISCARD_TEXT = "{count} settings are changed and not saved."
SETTINGS_DISCARD_ONE = "One setting is changed and not saved."
SETTINGS_DISCARD_YES = "Discard"
SETTINGS_DISCARD_NO = "Go on editing"
SETTINGS_CHANGED = "changed, not saved"
SETTINGS_SOURCE = "from: {source}"
SETTINGS_DEFAULT_SHOWN = "This is the built-in prompt; edit it to use your own."
SETTINGS_CUSTOM = "Your own prompt."
SETTINGS_RESET = "Reset to the built-in prompt"
SETTINGS_THRESHOLD = "{percent} % of {window} is {tokens} tokens; a condense is due at {trigger}."
SETTINGS_THRESHOLD_AUTO = "Where a condense pays back at the model's prices; the bar shows where that is."
SETTINGS_SECTION = {
    "context": "Condensing",
    "profile": "Profile",
    "approvals": "Approvals",
    "checkpoints": "Checkpoints",
    "hooks": "Hooks",
    "appearance": "Appearance",
}
SETTINGS_ACTIVE_PROFILE = "Active profile"
SETTINGS_ACTIVE_PROFILE_SENTENCE = "Which profile answers from the next request on."
SETTINGS_LIST_HINT = "separate several with commas"
PROFILE_NEW = "New"
PROFILE_COPY = "Copy"
PROFILE_DELETE = "Delete"
PROFILE_NAME_TITLE = "Name of the new profile"
PROFILE_NAME_PLACEHOLDER = "letters, digits, - and _"
PROFILE_NAME_KEYS = "enter makes it · esc back"
PROFILE_NAME_TAKEN = "There is a profile of this name already."
PROFILE_NAME_INVALID = "A name is made of letters, digits, - and _."
PROFILE_DELETE_TITLE = "Delete the profile “{name}”?"
PROFILE_DELETE_TEXT = "Its settings are removed from the file; “{next}” answers from then on."
PROFILE_DELETE_YES = "Delete"
PROFILE_DELETE_NO = "Keep it"
PROFILE_MADE = "Profile {name} is there and answers from the next request on."
PROFILE_DELETED = "Profile {name} is deleted."
SETTINGS_PROBLEMS = "Problems in the settings"
SETTINGS_DEFAULT_CHOICE = "built-in"

# help
HELP_TITLE = "Help"
HELP_KEYS = "esc closes"
HELP_HERE = "Where you are"
HELP_PROMPT = "In the prompt"
HELP_COMMANDS = "Commands"
HELP_PROMPT_KEYS = (
    ("enter", "send; queue while the agent works"),
    ("^j, ⇧enter", "new line"),
    ("↑ ↓", "earlier messages, at the first and last line"),
    ("/", "commands"),
    ("@", "files"),
    ("esc", "less: close, cancel, interrupt"),
    ("tab", "go to the transcript and back"),
    ("^d", "quit, if nothing is typed; so does ^c twice"),
)
HELP_TRANSCRIPT = "In the transcript"
HELP_CONTEXT = "In the context screen"
HELP_CONTEXT_KEYS = (
    ("enter", "show the entry's row"),
    ("x", "pin the entry, or take its pin off: condenses keep its text word for word"),
    ("m", "mask what stands twice, without a model"),
    ("t", "compare what each strategy would free, and condense with one"),
    ("c", "condense"),
    ("p", "forecast a condense"),
)

# notices
UNEXPECTED = "Something went wrong that should not have. Details are in {file}."
COPIED = "Copied."
NO_SUCH_COMMAND = "There is no command “/{name}”. Type / to see all."
NEW_TASK = "A new task. The old one is in the list of tasks."
REWOUND = "Rewound. The undo command takes it back."
PROFILE_CHOSEN = "Profile {name} answers from the next request on."
CONDENSE_REFUSED = "Not condensed: {message}"
CONDENSE_CANCELLED = "Condense cancelled; nothing changed."
START_FAILED_TITLE = "roo-tui cannot start"

# time
JUST_NOW = "just now"
MINUTES_AGO = "{count} min ago"
HOURS_AGO = "{count} h ago"
DAYS_AGO = "{count} d ago"

THEME_TITLE = "Colours"
RECEIPT_APPENDED = "The receipt is part of the summary now."
NO_SUCH_THEME = "There is no theme “{name}”; /theme lists them."
