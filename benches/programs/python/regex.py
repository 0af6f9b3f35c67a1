import re
t = 'a1b22c333 ' * 60_000
print(sum(map(int, re.findall(r'\d+', t))))
