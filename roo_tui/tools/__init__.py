"""The tools a model may call: one module and one prompt file each.

Knows the workspace, not the models, the store or the screen. A new tool is a module here, `prompts/tools/<name>.md`
and a line in `registry`. Start with `base`; `runner` is what the engine calls.
"""
