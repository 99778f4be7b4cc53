"""Two functions over the Palmer penguins: the tools that the embedded model is tried with."""

from __future__ import annotations

from palmerpenguins import load_penguins

penguins = load_penguins()


def mean_mass(species: str) -> float:
    """Mean body mass of one species of penguin, in grams.

    Args:
        species: name of the species.

    Examples:
        What is the average mass of the Macaroni penguins? -> mean_mass(species="Macaroni")
        How much does the Emperor weigh? -> mean_mass(species="Emperor")
    """
    return round(float(penguins.loc[penguins.species == species, "body_mass_g"].mean()), 1)


def count_on(island: str) -> int:
    """Number of penguins that were seen on one island.

    Args:
        island: name of the island.

    Examples:
        How many penguins are on Signy? -> count_on(island="Signy")
        Count the birds of Ross island. -> count_on(island="Ross")
    """
    return int((penguins.island == island).sum())
