// For the projects of docs/guide/install.md: headers and library are there.
#include <eddy/eddy.hpp>
#include <eddy/solvers/all.hpp>

int main() {
    eddy::internal_check(eddy::Tsit5::order == 5, "the methods are there");
    return EDDY_VERSION >= 100 && eddy::KeptThreads::num_available() >= 1 ? 0 : 1;
}
