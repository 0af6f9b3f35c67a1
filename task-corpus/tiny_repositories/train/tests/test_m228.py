from tiny.m228 import f


def test_0():
    assert f('ed') == 'DED'


def test_1():
    assert f('daa') == 'AADAA'


def test_2():
    assert f('be') == 'EBE'


def test_3():
    assert f('ca') == 'ACA'


def test_4():
    assert f('daab') == 'AABDAAB'


def test_5():
    assert f('abce') == 'BCEABCE'


def test_6():
    assert f('cab') == 'ABCAB'


def test_7():
    assert f('ccb') == 'CBCCB'
