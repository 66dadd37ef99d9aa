"""Who answers when no one is there: a policy."""

from roo_tui.domain.events import Approval, Choice, Question
from roo_tui.prompt_files import render


def answer_to(question: Question, *, auto_approve: bool) -> tuple[str, str]:
    """Return the option's id and the text that go back.

    Approvals are allowed with `auto_approve` and denied without, with a reason the model reads. A question that takes
    free text is answered with the fact that no one is here; any other one with its last option, the most cautious.
    """
    options = [option.id for option in question.options]
    match question.body:
        case Approval() if auto_approve:
            return "allow", ""
        case Approval():
            return "deny", render("headless/denied")
        case Choice(free_text=True):
            return "", render("headless/no_answer")
        case _:
            return (options[-1] if options else ""), ""
