"""The scores of heads over sets of texts and gold data, of models whose heads are known and in plain loops."""
