"""The built-in themes; Textual's own themes can be chosen too."""

from textual.theme import Theme

DARK = Theme(
    name="roo-dark",
    primary="#7FB0D6",
    secondary="#9A8FC7",
    accent="#D9A66B",
    success="#86B77C",
    warning="#DDB35C",
    error="#D9737A",
    foreground="#D6D9DE",
    background="#15181D",
    surface="#1B1F26",
    panel="#232832",
    dark=True,
    variables={
        "block-cursor-background": "#2F3B4A",
        "block-cursor-foreground": "#E8EBEF",
        "block-cursor-text-style": "none",
        "input-selection-background": "#7FB0D6 30%",
        "border-blurred": "#2A303A",
    },
)
LIGHT = Theme(
    name="roo-light",
    primary="#2F6690",
    secondary="#6A5D9E",
    accent="#A5641F",
    success="#3F7A3A",
    warning="#8F6400",
    error="#B03A43",
    foreground="#22262C",
    background="#FAFAF8",
    surface="#F1F1EE",
    panel="#E6E7E4",
    dark=False,
    variables={
        "block-cursor-background": "#CFDDE8",
        "block-cursor-foreground": "#15181D",
        "block-cursor-text-style": "none",
        "border-blurred": "#D5D7D3",
    },
)
THEMES = (DARK, LIGHT)
