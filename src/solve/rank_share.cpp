#include <bit>
#include <eddy/solve/ranks/call_print.hpp>
#include <eddy/solve/ranks/rank_share.hpp>
#include <eddy/version.hpp>

namespace eddy::inline v0::detail {

void Fingerprint::add(double number) { add(std::bit_cast<std::uint64_t>(number)); }

std::uint64_t print_of_version() { return EDDY_VERSION; }

std::uint64_t print_of(const SolveOptions& options) {
    Fingerprint print;
    // Times of lanes' own are a rank's, as y0 is.
    for (const TimeOption* time : {&options.t0, &options.t1}) {
        print.add(std::uint64_t{time->is_own()});
        if (!time->is_own()) print.add(static_cast<double>(*time));
    }
    print.add(
        static_cast<std::uint64_t>(options.save_at.is_own ? options.save_at.own.num_times + 1 : 0));
    const Impulses& impulses = options.impulses;
    for (const Impulse kind : impulses.kinds.values) print.add(static_cast<std::uint64_t>(kind));
    for (const SaveTimes* list : {static_cast<const SaveTimes*>(&impulses.times),
                                  static_cast<const SaveTimes*>(&impulses.components),
                                  static_cast<const SaveTimes*>(&impulses.amounts)}) {
        print.add(static_cast<std::uint64_t>(list->is_own ? list->own.num_times + 1 : 0));
        for (const double number : list->values) print.add(number);
    }
    for (const double number :
         {options.rtol, options.dt0, options.dt_min, options.dt_max, options.noise_cell})
        print.add(number);
    for (const auto* numbers : {&options.atol.values, &options.save_at.values,
                                &options.step_to.values, &options.jump_times.values}) {
        print.add(static_cast<std::uint64_t>(numbers->size()));
        for (const double number : *numbers) print.add(number);
    }
    for (const auto number : {static_cast<std::uint64_t>(options.max_steps), options.seed,
                              options.first_path, static_cast<std::uint64_t>(options.paths)})
        print.add(number);
    for (const bool choice :
         {options.save_steps, options.stable_gradients, options.tangents_in_error_norm,
          options.antithetic, impulses.saved_before})
        print.add(std::uint64_t{choice});
    return print.value();
}

void require_whole_groups(const RankShare& ranks, std::ptrdiff_t own_lanes,
                          std::ptrdiff_t group_size) {
    const bool ends = ranks.first_lane + own_lanes == ranks.num_lanes;
    require_argument(
        own_lanes == 0 ||
            (ranks.first_lane % group_size == 0 && (ends || own_lanes % group_size == 0)),
        "ranks: the gradient of more than 64 shared parameters is a sum over groups of {} "
        "of these {} trajectories, and this rank has {} from number {} on; give every "
        "rank except the last a multiple of {}",
        group_size, ranks.num_lanes, own_lanes, ranks.first_lane, group_size);
}

void require_rank_blocks(const LaneBlocks& lanes, bool are_on_device, const char* where) {
    require_argument(
        !are_on_device || lanes.num_alone == 0,
        "{}: arrays on a device are added in blocks of {} trajectories; give every rank "
        "except the last a multiple of {}, or arrays of the host",
        where, lanes_per_block, lanes_per_block);
}

void require_no_paths_of_ranks(const RankShare& ranks, std::int64_t paths, const char* where) {
    require_argument(paths == 1 || ranks.group->num_ranks() == 1,
                     "{}: paths = {} with more than 64 shared parameters over several ranks; make "
                     "each path a trajectory",
                     where, paths);
}

}  // namespace eddy::inline v0::detail
