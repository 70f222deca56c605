"""What the visitor looks at: kept in the session, carried from page to page, and written in the address.

Every page declares its own fields in a dataclass of its own; nothing here knows what any of them means.
"""
