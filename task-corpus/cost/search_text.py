# Search a text for what is not in it: `str.find` and `count` on needles that nearly match.
# job: script

text, needle = "a" * 1000000, "a" * 500 + "b" + "a" * 500
while True:
    text.find(needle); text.count("ab"); text.replace("ab", "c")
