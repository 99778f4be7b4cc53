"""The words of `%%agent` and `%agent`: their tables, their values, their completion; it must not do what they say."""
