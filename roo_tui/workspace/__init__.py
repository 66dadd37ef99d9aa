"""The user's folder: its files, what the agent may see and change in it, and the commands that run there.

It knows nothing of tools, models or tasks. Functions are synchronous and read the disk, so call them in a thread;
`processes` is the exception. Start with `files`.
"""
