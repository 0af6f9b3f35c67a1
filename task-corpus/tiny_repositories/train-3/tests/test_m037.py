from tiny.m037 import f


def test_0():
    assert f('eadb') == 'zab'


def test_1():
    assert f('ed') == 'zd'


def test_2():
    assert f('cbce') == 'zbe'


def test_3():
    assert f('ca') == 'za'


def test_4():
    assert f('cbea') == 'zba'


def test_5():
    assert f('aabc') == 'zac'


def test_6():
    assert f('cdc') == 'zd'


def test_7():
    assert f('ab') == 'zb'
