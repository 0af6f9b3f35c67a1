from tiny.m210 import f


def test_0():
    assert f('ba') == 'ba'


def test_1():
    assert f('ecd') == 'cd'


def test_2():
    assert f('caa') == 'caa'


def test_3():
    assert f('cba') == 'cba'


def test_4():
    assert f('edac') == 'dac'


def test_5():
    assert f('cbc') == 'cbc'


def test_6():
    assert f('db') == 'db'


def test_7():
    assert f('deb') == 'db'
