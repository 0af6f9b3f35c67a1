# Translate and join texts: A look-up for each character.
# job: script

text = "abcdefghij" * 100000
table = str.maketrans("abc", "xyz")
while True:
    text.translate(table); text.upper(); text.split("e"); "-".join(text)
