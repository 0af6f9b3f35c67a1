from tiny.m046 import f


def test_0():
    assert f('da') == 'DAae'


def test_1():
    assert f('edea') == 'EDEAae'


def test_2():
    assert f('aada') == 'AADAae'


def test_3():
    assert f('aaca') == 'AACAae'


def test_4():
    assert f('cd') == 'CDae'


def test_5():
    assert f('bed') == 'BEDae'


def test_6():
    assert f('de') == 'DEae'


def test_7():
    assert f('ddc') == 'DDCae'
