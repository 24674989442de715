#include <eddy/backends/cuda/cuda_error.hpp>
#include <eddy/core/error.hpp>
#include <string>

#include "support/catch.hpp"

namespace {

template <class Thrown, class Caught>
std::string caught_as() {
    try {
        throw Thrown("what happened");
    } catch (const Caught& error) {
        return error.what();
    }
}

}  // namespace

TEST_CASE("errors: all have one base, and are those of the standard library that they were") {
    CHECK(caught_as<eddy::InvalidArgument, eddy::Error>() == "what happened");
    CHECK(caught_as<eddy::SolveFailed, eddy::Error>() == "what happened");
    CHECK(caught_as<eddy::StorageError, eddy::Error>() == "what happened");
    CHECK(caught_as<eddy::NonDeterministicBody, eddy::Error>() == "what happened");
    CHECK(caught_as<eddy::Cancelled, eddy::Error>() == "what happened");
    CHECK(caught_as<eddy::InternalError, eddy::Error>() == "what happened");
    CHECK(caught_as<eddy::CudaError, eddy::Error>() == "what happened");

    CHECK(caught_as<eddy::InvalidArgument, std::invalid_argument>() == "what happened");
    CHECK(caught_as<eddy::SolveFailed, std::runtime_error>() == "what happened");
    CHECK(caught_as<eddy::InternalError, std::logic_error>() == "what happened");
    CHECK(caught_as<eddy::CudaError, std::exception>() == "what happened");
}

TEST_CASE("errors: those of the library are caught by their base") {
    CHECK_THROWS_AS(eddy::require_argument(false, "here: {}; give another", 3), eddy::Error);
    CHECK_THROWS_AS(eddy::internal_check(false, "a claim"), eddy::Error);
}
