"""From the text of a reply to the code that stands in it; it must not judge what that does."""
