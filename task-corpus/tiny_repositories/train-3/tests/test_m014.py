from tiny.m014 import f


def test_0():
    assert f('de') == 'de'


def test_1():
    assert f('bd') == 'bd'


def test_2():
    assert f('edcd') == 'ed'


def test_3():
    assert f('ebc') == 'eb'


def test_4():
    assert f('bba') == 'bb'


def test_5():
    assert f('ddcc') == 'dd'


def test_6():
    assert f('eae') == 'ez'


def test_7():
    assert f('dbea') == 'db'
