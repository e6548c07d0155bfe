"""Numbers with their nouns, as answers and commands say them."""


def counted(number: int, noun: str) -> str:
    """E.g. "1 fact", "3,000 facts", "2 entities"; the noun is given for one."""
    if number == 1:
        return f"1 {noun}"
    ends_in_ies = noun.endswith("y") and noun[-2] not in "aeiou"
    return f"{number:,} {f'{noun[:-1]}ie' if ends_in_ies else noun}s"
