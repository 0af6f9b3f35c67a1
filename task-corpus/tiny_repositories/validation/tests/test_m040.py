from tiny.m040 import f


def test_0():
    assert f('cec') == 'ceccecceccec'


def test_1():
    assert f('de') == 'edededed'


def test_2():
    assert f('bada') == 'adabadabadabadab'


def test_3():
    assert f('cb') == 'bcbcbcbc'


def test_4():
    assert f('baa') == 'aabaabaabaab'


def test_5():
    assert f('ec') == 'cececece'


def test_6():
    assert f('deca') == 'acedacedacedaced'


def test_7():
    assert f('eca') == 'aceaceaceace'
