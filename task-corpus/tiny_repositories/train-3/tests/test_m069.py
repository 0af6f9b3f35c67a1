from tiny.m069 import f


def test_0():
    assert f('eac') == 'caea'


def test_1():
    assert f('cd') == 'dca'


def test_2():
    assert f('cae') == 'eaca'


def test_3():
    assert f('cbbb') == 'bbbca'


def test_4():
    assert f('bccc') == 'cccba'


def test_5():
    assert f('de') == 'eda'


def test_6():
    assert f('aacd') == 'dcaaa'


def test_7():
    assert f('eea') == 'aeea'
