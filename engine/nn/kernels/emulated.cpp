// Runs the kernels on the CPU: reads a request from standard input, and writes the resulting buffers to
// standard output.
//
// A request consists of 64-bit integers, except where bytes are mentioned: the thread order, the number of
// buffers, each with its length and bytes, the number of launches, each with its name's length and bytes, the
// six dimensions of grid and block, the bytes of shared memory, and the number of arguments, each with its
// kind and two numbers.
#include "emulated.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <tuple>
#include <ucontext.h>

dim3 gridDim, blockDim, blockIdx, threadIdx;

namespace emulated {

enum class Kind : int64_t { buffer, absent, int32, int64, float32 };

struct Request {
    struct Argument {
        Kind kind;
        int64_t first, second;
    };
    std::string name;
    std::vector<Argument> arguments;
};

namespace {

/// Thread orders. A result that depends on them shows a missing barrier.
enum class Order : int64_t { forwards, backwards };

enum class State { ready, at_warp, at_block, done };

struct Copy {
    void *to;
    const void *from;
    size_t bytes;

    void finish() const {
        memcpy(to, from, bytes);
        memset(static_cast<char *>(to) + bytes, 0, 16 - bytes);
    }
};

struct Fibre {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    State state;
    int parcel;
    /// Groups of copies; the last one has not ended.
    std::vector<std::vector<Copy>> copies;
};

constexpr size_t STACK = 256 << 10;

/// Past the address sanitizer, which at each switch forgets all that it knows of the other stack; that took half of the
/// time. No function with checked variables is left without returning, so there is nothing to forget.
int (*const switch_context)(ucontext_t *, const ucontext_t *) = [] {
    void *library = dlopen("libc.so.6", RTLD_LAZY), *found = library ? dlsym(library, "swapcontext") : nullptr;
    using Switch = int (*)(ucontext_t *, const ucontext_t *);
    return found ? reinterpret_cast<Switch>(found) : static_cast<Switch>(swapcontext);
}();

std::vector<std::unique_ptr<Fibre>> fibres;
std::vector<Warp> warps;
ucontext_t scheduler;
size_t running;
Order order;
const std::function<void()> *work;
std::unique_ptr<unsigned char[]> shared;
std::vector<std::unique_ptr<unsigned char, decltype(&free)>> buffers;

std::map<std::string, Kernel> &kernels() {
    static std::map<std::string, Kernel> kernels;
    return kernels;
}

void wait(State state) {
    Fibre &own = *fibres[running];
    own.state = state;
    switch_context(&own.context, &scheduler);
}

void begin() {
    (*work)();
    fibres[running]->state = State::done;
    switch_context(&fibres[running]->context, &scheduler);
}

void resume(size_t index) {
    running = index;
    unsigned thread = static_cast<unsigned>(index);
    threadIdx = {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y};
    switch_context(&scheduler, &fibres[index]->context);
}

size_t in_order(size_t index, size_t count) { return order == Order::forwards ? index : count - 1 - index; }

/// Runs a warp until all its threads are at a block barrier or finished.
void run_warp(size_t warp, size_t threads) {
    size_t first = warp * 32, count = std::min<size_t>(32, threads - first);
    for (;;) {
        size_t waiting = 0;
        for (size_t index = 0; index < count; index++) {
            size_t thread = first + in_order(index, count);
            if (fibres[thread]->state == State::ready) resume(thread);
        }
        for (size_t thread = first; thread < first + count; thread++) waiting += fibres[thread]->state == State::at_warp;
        if (waiting == 0) return;
        if (waiting < count) fail("some threads of a warp wait for others that do not come");
        for (size_t thread = first; thread < first + count; thread++) fibres[thread]->state = State::ready;
    }
}

void run_block(size_t shared_bytes) {
    size_t threads = blockDim.x * blockDim.y * blockDim.z;
    shared.reset(new unsigned char[shared_bytes]);
    // Unwritten values are NaN.
    memset(shared.get(), 0xff, shared_bytes);
    warps.resize((threads + 31) / 32);
    while (fibres.size() < threads) {
        fibres.push_back(std::make_unique<Fibre>());
        fibres.back()->stack.reset(new char[STACK]);
    }
    for (size_t index = 0; index < threads; index++) {
        Fibre &fibre = *fibres[index];
        getcontext(&fibre.context);
        fibre.context.uc_stack.ss_sp = fibre.stack.get();
        fibre.context.uc_stack.ss_size = STACK;
        fibre.context.uc_link = nullptr;
        makecontext(&fibre.context, begin, 0);
        fibre.state = State::ready;
        fibre.parcel = 0;
        fibre.copies.assign(1, {});
    }
    for (;;) {
        for (size_t index = 0; index < warps.size(); index++) run_warp(in_order(index, warps.size()), threads);
        size_t done = 0;
        for (size_t index = 0; index < threads; index++) done += fibres[index]->state == State::done;
        if (done == threads) return;
        if (done > 0) fail("some threads of a block wait for others that have ended");
        for (size_t index = 0; index < threads; index++) fibres[index]->state = State::ready;
    }
}

void read(void *to, size_t bytes) {
    if (fread(to, 1, bytes, stdin) != bytes) fail("the request ends early");
}

int64_t read_whole() {
    int64_t value;
    read(&value, sizeof value);
    return value;
}

dim3 read_sides() {
    auto side = [] { return static_cast<unsigned>(read_whole()); };
    unsigned x = side(), y = side(), z = side();
    return {x, y, z};
}

void launch() {
    Request request;
    request.name.resize(static_cast<size_t>(read_whole()));
    read(request.name.data(), request.name.size());
    gridDim = read_sides();
    blockDim = read_sides();
    auto shared_bytes = static_cast<size_t>(read_whole());
    request.arguments.resize(static_cast<size_t>(read_whole()));
    for (auto &argument : request.arguments) {
        argument = {static_cast<Kind>(read_whole()), 0, 0};
        argument.first = read_whole();
        argument.second = read_whole();
    }
    auto kernel = kernels().find(request.name);
    if (kernel == kernels().end()) fail("there is no kernel " + request.name);
    std::function<void()> bound = kernel->second(Arguments{&request, 0});
    work = &bound;
    for (blockIdx.z = 0; blockIdx.z < gridDim.z; blockIdx.z++) {
        for (blockIdx.y = 0; blockIdx.y < gridDim.y; blockIdx.y++) {
            for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++) run_block(shared_bytes);
        }
    }
}

} // namespace

void fail(const std::string &what) {
    fprintf(stderr, "%s\n", what.c_str());
    exit(1);
}

unsigned char *shared_bytes() { return shared.get(); }
Warp &own_warp() { return warps[running / 32]; }
int own_lane() { return static_cast<int>(running % 32); }
int next_parcel() { return fibres[running]->parcel ^= 1; }
void wait_for_warp() { wait(State::at_warp); }
void wait_for_block() { wait(State::at_block); }

/// One order copies immediately and the other as late as allowed, so that copies that are too early and too
/// late both show.
void begin_copy(void *to, const void *from, size_t bytes) {
    Copy copy{to, from, bytes};
    if (order == Order::backwards) {
        copy.finish();
    } else {
        fibres[running]->copies.back().push_back(copy);
    }
}

void end_group() { fibres[running]->copies.emplace_back(); }

void finish_groups_but(size_t newest) {
    auto &groups = fibres[running]->copies;
    while (groups.size() > newest + 1) {
        for (const Copy &copy : groups.front()) copy.finish();
        groups.erase(groups.begin());
    }
}

void finish_copies() {
    end_group();
    finish_groups_but(0);
}

void remember(const char *name, Kernel kernel) { kernels()[name] = std::move(kernel); }

static const Request::Argument &taken(Arguments &arguments, const char *as, bool fits(Kind)) {
    size_t index = arguments.next++;
    if (index >= arguments.request->arguments.size()) fail(arguments.request->name + " is given too few arguments");
    const auto &argument = arguments.request->arguments[index];
    if (!fits(argument.kind)) {
        fail("argument " + std::to_string(index) + " of " + arguments.request->name + " is no " + as);
    }
    return argument;
}

void *Arguments::pointer() {
    const auto &argument =
        taken(*this, "pointer", [](Kind kind) { return kind == Kind::buffer || kind == Kind::absent; });
    if (argument.kind == Kind::absent) return nullptr;
    return buffers.at(static_cast<size_t>(argument.first)).get() + argument.second;
}

int64_t Arguments::whole(int bytes) {
    if (bytes == 4) return taken(*this, "int", [](Kind kind) { return kind == Kind::int32; }).first;
    return taken(*this, "long long", [](Kind kind) { return kind == Kind::int64; }).first;
}

float Arguments::number() {
    const auto &argument = taken(*this, "float", [](Kind kind) { return kind == Kind::float32; });
    return __uint_as_float(static_cast<uint32_t>(argument.first));
}

void Arguments::finish() const {
    if (next != request->arguments.size()) fail(request->name + " is given too many arguments");
}

} // namespace emulated

int main() {
    using namespace emulated;
    order = static_cast<Order>(read_whole());
    std::vector<size_t> lengths(static_cast<size_t>(read_whole()));
    for (size_t &length : lengths) {
        length = static_cast<size_t>(read_whole());
        buffers.emplace_back(static_cast<unsigned char *>(malloc(length)), free);
        read(buffers.back().get(), length);
    }
    for (int64_t launches = read_whole(); launches > 0; launches--) launch();
    for (size_t index = 0; index < lengths.size(); index++) {
        if (fwrite(buffers[index].get(), 1, lengths[index], stdout) != lengths[index]) fail("the result was not taken");
    }
    return 0;
}
