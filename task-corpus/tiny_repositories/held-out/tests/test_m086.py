from tiny.m086 import f


def test_0():
    assert f('abe') == 'zABEABE'


def test_1():
    assert f('aad') == 'zzzdzzd'


def test_2():
    assert f('de') == 'zdede'


def test_3():
    assert f('edcb') == 'zEDCBEDCB'


def test_4():
    assert f('bdb') == 'zBDBBDB'


def test_5():
    assert f('ee') == 'zeeee'


def test_6():
    assert f('bceb') == 'zBCEBBCEB'


def test_7():
    assert f('cdbe') == 'zCDBECDBE'
