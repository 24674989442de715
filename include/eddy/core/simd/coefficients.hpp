#pragma once
// Minimax polynomials, constant first, printed by scripts/fit_pack_math.py; it says what weight
// each was fitted under. "2^-57" beside a table is the largest relative error that the polynomial
// adds to the function.
// Test: tests/core/pack_math.cpp

namespace eddy::inline v0::simd {

/// (e^r − 1 − r) / r² on |r| ≤ ln 2 / 2.
template <class Real>
struct ExpTail;
// 2^-61.7
template <>
struct ExpTail<double> {
    static constexpr double coefficients[] = {
        5.0e-1,
        1.6666666666666677e-1,
        4.1666666666666509e-2,
        8.3333333333216819e-3,
        1.3888888888962435e-3,
        1.9841269885993493e-4,
        2.4801587172418857e-5,
        2.755724434341552e-6,
        2.7557402724568838e-7,
        2.5108990605639949e-8,
        2.0875313045303632e-9,
    };
};
// 2^-26.2
template <>
struct ExpTail<float> {
    static constexpr float coefficients[] = {
        4.99999981e-1f, 1.66665435e-1f, 4.16672015e-2f, 8.36653041e-3f, 1.38824686e-3f,
    };
};

/// (log((1+s)/(1−s))/s − 2) / z in z = s², |s| ≤ (√2−1)/(√2+1).
template <class Real>
struct LogTail;
// 2^-59.5
template <>
struct LogTail<double> {
    static constexpr double coefficients[] = {
        6.6666666666667344e-1, 3.9999999999414553e-1, 2.8571428742417258e-1, 2.2222198570174606e-1,
        1.818356447774756e-1,  1.5314046815621486e-1, 1.4795985672913769e-1,
    };
};
// 2^-30.2
template <>
struct LogTail<float> {
    static constexpr float coefficients[] = {
        6.66667764e-1f,
        3.9977541e-1f,
        2.98717582e-1f,
    };
};

/// the same without its constant 2/3 and divided by z, for the 65-bit logarithm of pow.
template <class Real>
struct LogLongTail;
// 2^-73.6
template <>
struct LogLongTail<double> {
    static constexpr double coefficients[] = {
        3.9999999999999978e-1, 2.8571428571445099e-1, 2.2222222217539382e-1, 1.8181818869969981e-1,
        1.5384556894008053e-1, 1.3336316545481576e-1, 1.1674836087091944e-1, 1.1988867600655596e-1,
    };
};

/// (sin(r)/r − 1) / z in z = r², |r| ≤ π/4.
template <class Real>
struct SinTail;
// 2^-57.9
template <>
struct SinTail<double> {
    static constexpr double coefficients[] = {
        -1.6666666666666631e-1, 8.3333333333221131e-3,  -1.9841269829584649e-4,
        2.7557313619589246e-6,  -2.5050747469499678e-8, 1.5896212553680756e-10,
    };
};
// 2^-28.0
template <>
struct SinTail<float> {
    static constexpr float coefficients[] = {
        -1.66666546e-1f,
        8.33216059e-3f,
        -1.95152445e-4f,
    };
};

/// (cos(r) − 1 + z/2) / z² in z = r², |r| ≤ π/4.
template <class Real>
struct CosTail;
// 2^-64.0
template <>
struct CosTail<double> {
    static constexpr double coefficients[] = {
        4.1666666666666593e-2,  -1.3888888888873047e-3, 2.4801587288845705e-5,
        -2.7557314177503454e-7, 2.087570058947415e-9,   -1.1358523013335465e-11,
    };
};
// 2^-33.0
template <>
struct CosTail<float> {
    static constexpr float coefficients[] = {
        4.16666457e-2f,
        -1.3887316e-3f,
        2.44331178e-5f,
    };
};

/// (asin(x)/x − 1) / z in z = x², |x| ≤ 1/2.
template <class Real>
struct AsinTail;
// 2^-59.9
template <>
struct AsinTail<double> {
    static constexpr double coefficients[] = {
        1.666666666666676e-1,  7.4999999999708013e-2, 4.464285717461138e-2,  3.038194270779382e-2,
        2.2372214987282379e-2, 1.7351612025792839e-2, 1.3980820313004444e-2, 1.1398914900732826e-2,
        1.078023377136892e-2,  3.7064944664779757e-3, 2.1707207796436105e-2, -2.0998684693011197e-2,
        3.2628365582195985e-2,
    };
};
// 2^-27.6
template <>
struct AsinTail<float> {
    static constexpr float coefficients[] = {
        1.66667524e-1f, 7.49529958e-2f, 4.54701646e-2f, 2.41804056e-2f, 4.21650258e-2f,
    };
};

/// (atan(x)/x − 1) / z in z = x², |x| ≤ tan(π/8).
template <class Real>
struct AtanTail;
// 2^-59.4
template <>
struct AtanTail<double> {
    static constexpr double coefficients[] = {
        -3.3333333333333195e-1, 1.9999999999952811e-1,  -1.4285714280120293e-1,
        1.1111110779743091e-1,  -9.0908976534063159e-2, 7.6920583999679618e-2,
        -6.6630838222837436e-2, 5.8477446510013817e-2,  -5.0386626994964887e-2,
        3.8048465474231496e-2,  -1.788979084250926e-2,
    };
};
// 2^-30.5
template <>
struct AtanTail<float> {
    static constexpr float coefficients[] = {
        -3.33333151e-1f, 1.99984658e-1f, -1.42434197e-1f, 1.05929283e-1f, -6.07586896e-2f,
    };
};

/// (tanh(x)/x − 1) / z in z = x², tanh |x| ≤ 1/2.
template <class Real>
struct TanhTail;
// 2^-55.5
template <>
struct TanhTail<double> {
    static constexpr double coefficients[] = {
        -3.3333333333332337e-1, 1.3333333333172104e-1,  -5.3968253877760602e-2,
        2.1869486015369158e-2,  -8.8631950548822466e-3, 3.5917241933661936e-3,
        -1.4532392725649345e-3, 5.7920471484459383e-4,  -2.104145138915628e-4,
        5.1100054601751442e-5,
    };
};
// 2^-24.7
template <>
struct TanhTail<float> {
    static constexpr float coefficients[] = {
        -3.33329503e-1f,
        1.33208132e-1f,
        -5.267762e-2f,
        1.64489215e-2f,
    };
};

/// (e^(2r) − 1) / r on |r| ≤ ln 2 / 4, for 1 − 2 / (e^(2x) + 1) ≥ 1/2.
template <class Real>
struct TanhPower;
// 2^-59.8
template <>
struct TanhPower<double> {
    static constexpr double coefficients[] = {
        2.0000000000000001,    2.0000000000000046,    1.3333333333332896,    6.6666666666443851e-1,
        2.6666666667498382e-1, 8.8888889240650886e-2, 2.5396824778970409e-2, 6.3491822508705746e-3,
        1.4109536436740695e-3, 2.8293283685713559e-4, 5.1145970524800394e-5,
    };
};
// 2^-25.1
template <>
struct TanhPower<float> {
    static constexpr float coefficients[] = {
        1.99999916f, 1.99996767f, 1.33344609f, 6.70294191e-1f, 2.6436551e-1f,
    };
};

/// erf(x)/x − 1 in z = x², |x| ≤ 1.
template <class Real>
struct ErfCentre;
// 2^-56.9
template <>
struct ErfCentre<double> {
    static constexpr double coefficients[] = {
        1.2837916709551257e-1,  -3.761263890318352e-1,  1.12837916709442e-1,
        -2.6866170643113413e-2, 5.2239776061308384e-3,  -8.5483259297660907e-4,
        1.2055293586932971e-4,  -1.4924712439467177e-5, 1.6447132699036383e-6,
        -1.6206318747740094e-7, 1.3710988683402285e-8,  -7.779462935809436e-10,
    };
};
// 2^-29.6
template <>
struct ErfCentre<float> {
    static constexpr float coefficients[] = {
        1.28379166e-1f, -3.76126258e-1f, 1.12835852e-1f, -2.68538146e-2f,
        5.18833048e-3f, -8.01020269e-4f, 7.85384979e-5f,
    };
};

/// exp(x²)·erfc(x) in t = (x−2)/(x+2), from x = 1 to 6 (double) or 4 (float).
template <class Real>
struct ErfcTail;
// 2^-60.6
template <>
struct ErfcTail<double> {
    static constexpr double coefficients[] = {
        2.5539567631050576e-1,  -4.2718584741395678e-1, 2.4165819424246693e-1,
        -7.8978581016455503e-2, 3.7328923985937864e-3,  6.9974617900877452e-3,
        -8.4714257259684762e-4, -9.8197658435944524e-4, 4.3535314267635193e-5,
        1.7428770605289539e-4,  2.7630887603905393e-5,  -2.658703873819076e-5,
        -1.2622112610150599e-5,
    };
};
// 2^-34.6
template <>
struct ErfcTail<float> {
    static constexpr float coefficients[] = {
        2.55395678e-1f,  -4.27185854e-1f, 2.41657213e-1f,
        -7.89874371e-2f, 3.72793308e-3f,  7.21045231e-3f,
    };
};

/// the cube root on [√½, √2], to half the digits.
template <class Real>
struct CbrtStart;
// 2^-22.5
template <>
struct CbrtStart<double> {
    static constexpr double coefficients[] = {
        3.9835841076219106e-1,  1.197045810294986,      -1.1869842966441555,
        9.7104473406829308e-1,  -5.1482905578377239e-1, 1.5574516160840726e-1,
        -2.0380887769139733e-2,
    };
};
// 2^-13.7
template <>
struct CbrtStart<float> {
    static constexpr float coefficients[] = {
        4.92510068e-1f,
        7.39716425e-1f,
        -2.90377726e-1f,
        5.82204742e-2f,
    };
};

}  // namespace eddy::inline v0::simd
