"""The person's folder: its files, what may be seen and touched in it, and the commands that run there.

Knows nothing of tools, models or tasks. Functions are synchronous and read the disk, so call them off the event loop;
`processes` is the exception. Start with `files`.
"""
