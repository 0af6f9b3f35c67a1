from tiny.m048 import f


def test_0():
    assert f('ee') == ['eedz', 'zz']


def test_1():
    assert f('acc') == ['accdz', 'zz']


def test_2():
    assert f('da') == ['dadz', 'zz']


def test_3():
    assert f('dbe') == ['dbedz', 'zz']


def test_4():
    assert f('dc') == ['dcdz', 'zz']


def test_5():
    assert f('cced') == ['cceddz', 'zz']


def test_6():
    assert f('ccdb') == ['ccdbdz', 'zz']


def test_7():
    assert f('edc') == ['edcdz', 'zz']
