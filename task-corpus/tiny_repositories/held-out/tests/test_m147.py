from tiny.m147 import f


def test_0():
    assert f('ecba') == 'ecbxecbxecbxecbx'


def test_1():
    assert f('aa') == 'xxxxxxxx'


def test_2():
    assert f('ce') == 'cececece'


def test_3():
    assert f('cd') == 'cdcdcdcd'


def test_4():
    assert f('bcc') == 'bccbccbccbcc'


def test_5():
    assert f('cb') == 'cbcbcbcb'


def test_6():
    assert f('ad') == 'xdxdxdxd'


def test_7():
    assert f('be') == 'bebebebe'
