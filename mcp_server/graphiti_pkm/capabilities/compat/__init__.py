"""The tools of two other memory servers, as the toolsets ``compat`` and ``reference``.

Planning of what people say stands in ``remember``; removing more than these tools wrote, in ``forget``.
"""
