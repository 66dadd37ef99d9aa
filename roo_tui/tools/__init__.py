"""The tools a model may call: one module and one prompt file each.

It knows the workspace, but not the models, the store or the screen. A new tool is a module here, a file
`prompts/tools/<name>.md` and a line in `registry`. Start with `base`; the engine calls `runner`.
"""
