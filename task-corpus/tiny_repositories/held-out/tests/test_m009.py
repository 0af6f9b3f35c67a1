from tiny.m009 import f


def test_0():
    assert f('bae') == 'aebx'


def test_1():
    assert f('ee') == 'eex'


def test_2():
    assert f('cec') == 'eccx'


def test_3():
    assert f('bb') == 'bbx'


def test_4():
    assert f('cbae') == 'baecx'


def test_5():
    assert f('bcc') == 'ccbx'


def test_6():
    assert f('addd') == 'dddax'


def test_7():
    assert f('edd') == 'ddex'
