"""A tokenizer whose tokens are single characters."""

from collections import Counter

import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers

from model.tokenizer import PAD, UNKNOWN, Tokenizer
from model.training.watched.tasks import FIRST_ID

ONE_CHARACTER = r"[\s\S]"


def character_tokenizer(characters: str) -> Tokenizer:
    """Each of these characters is a token, from id 2 on; 0 is padding, and 1 stands for all other characters."""
    vocabulary = {PAD: 0, UNKNOWN: 1} | {character: FIRST_ID + place for place, character in enumerate(characters)}
    backend = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    backend.pre_tokenizer = pre_tokenizers.Split(Regex(ONE_CHARACTER), "isolated")
    backend.decoder = decoders.Fuse()
    return Tokenizer(backend)


def commonest_characters(text: str, most: int) -> str:
    """The commonest characters of a text, in their own order."""
    return "".join(sorted(character for character, _ in Counter(text).most_common(most)))


def ids_of(text: str, characters: str) -> list[int]:
    """The ids that ``character_tokenizer`` gives a text."""
    ids = {character: FIRST_ID + place for place, character in enumerate(characters)}
    return [ids.get(character, 1) for character in text]
