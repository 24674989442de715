// eddy::mpi arrives with its MPI.
#include <eddy/backends/mpi.hpp>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const eddy::Mpi mpi{MPI_COMM_SELF};
    const bool has_all = eddy::rank_rows(mpi, 1000) == eddy::RankRows{0, 1000};
    MPI_Finalize();
    return has_all ? 0 : 1;
}
