# Call small functions: indirect calls: methods, properties, operators of classes.
# job: script

class C:
    __slots__ = ("x",)
    def __init__(self, x):
        self.x = x
    def __add__(self, other):
        return C(self.x + other.x)
    @property
    def y(self):
        return self.x
a = C(1)
while True:
    for _ in range(1000):
        a + a; a.y
