"""The tokens of a tokenizer and their ids, which every question about them is answered from without its process."""


class Vocabulary:
    """The ids by their tokens and the tokens by their ids, asked as the tokenizers library is."""

    def __init__(self, id_of: dict[str, int]) -> None:
        self.id_of, self.token_of = id_of, {number: token for token, number in id_of.items()}

    def get_vocab(self) -> dict[str, int]:
        """The id of every token."""
        return self.id_of

    def token_to_id(self, token: str) -> int | None:
        """The id of a token; None where there is none."""
        return self.id_of.get(token)

    def id_to_token(self, number: int) -> str | None:
        """The token of an id; None where there is none."""
        return self.token_of.get(number)
