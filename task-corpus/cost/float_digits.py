# Read a float of many digits: `float()` of 100,000 digits: a long multiplication.
# job: script

text = "0." + "123456789" * 11000
while True:
    float(text)
