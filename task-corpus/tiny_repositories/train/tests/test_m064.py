from tiny.m064 import f


def test_0():
    assert f('eecb') == ['be', 'ce', 'ee']


def test_1():
    assert f('ebd') == ['de', 'be']


def test_2():
    assert f('eda') == ['ae', 'de']


def test_3():
    assert f('cdba') == ['ae', 'be', 'de']


def test_4():
    assert f('ded') == ['de', 'ee']


def test_5():
    assert f('cdce') == ['ee', 'ce', 'de']


def test_6():
    assert f('edea') == ['ae', 'ee', 'de']


def test_7():
    assert f('daac') == ['ce', 'ae', 'ae']
