"""Sentences to translate, for the language that a translator reads, as far as its name says which that is."""

import re
from collections.abc import Sequence

from pages.parts.translate.settings import SENTENCES

# The names of the translators by the University of Helsinki: opus-mt-de-en, opus-mt-tc-big-fr-en.
FROM_TO = re.compile(r"opus-mt-(?:tc-(?:base|big|tiny)-)?([a-z]+)-[a-z]+")
BY_LANGUAGE = {
    "en": SENTENCES,
    "de": (
        "Das rote Haus ist groß.",
        "Das Tier überquerte die Straße nicht, weil es zu müde war.",
        "Der Hund biss den Mann.",
        "Wie lange wartest du schon hier?",
    ),
    "fr": (
        "La maison rouge est grande.",
        "L'animal n'a pas traversé la rue parce qu'il était trop fatigué.",
        "Le chien a mordu l'homme.",
        "Depuis combien de temps attends-tu ici ?",
    ),
    "es": (
        "La casa roja es grande.",
        "El animal no cruzó la calle porque estaba demasiado cansado.",
        "El perro mordió al hombre.",
        "¿Cuánto tiempo llevas esperando aquí?",
    ),
    "it": (
        "La casa rossa è grande.",
        "L'animale non ha attraversato la strada perché era troppo stanco.",
        "Il cane ha morso l'uomo.",
        "Da quanto tempo aspetti qui?",
    ),
    "nl": (
        "Het rode huis is groot.",
        "Het dier stak de straat niet over omdat het te moe was.",
        "De hond beet de man.",
        "Hoe lang wacht je hier al?",
    ),
    "ru": (
        "Красный дом большой.",
        "Животное не перешло улицу, потому что оно слишком устало.",
        "Собака укусила мужчину.",
        "Как долго ты здесь ждёшь?",
    ),
}


def sentences_for(name: str) -> Sequence[str]:
    """Sentences in the language that a translator of this name reads.

    None where there are none in that language; English ones where the name does not say which it is.
    """
    named = FROM_TO.search(name.lower())
    return BY_LANGUAGE.get(named[1], ()) if named else SENTENCES
