"""The measures of causes, each against passes that compute the same in another way."""
