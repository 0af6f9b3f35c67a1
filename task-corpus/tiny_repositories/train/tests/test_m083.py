from tiny.m083 import f


def test_0():
    assert f('cded') == 'ded'


def test_1():
    assert f('ccde') == 'cde'


def test_2():
    assert f('acc') == 'ac'


def test_3():
    assert f('be') == 'e'


def test_4():
    assert f('adbe') == 'dbe'


def test_5():
    assert f('ea') == 'a'


def test_6():
    assert f('bd') == 'd'


def test_7():
    assert f('aadb') == 'adb'
