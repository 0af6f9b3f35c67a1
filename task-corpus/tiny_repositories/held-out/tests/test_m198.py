from tiny.m198 import f


def test_0():
    assert f('dde') == 'aadde'


def test_1():
    assert f('db') == 'aabd'


def test_2():
    assert f('ddc') == 'aacdd'


def test_3():
    assert f('ce') == 'aace'


def test_4():
    assert f('dae') == 'aaade'


def test_5():
    assert f('aaca') == 'aaaaac'


def test_6():
    assert f('edad') == 'aaadde'


def test_7():
    assert f('bec') == 'aabce'
