/* A driver for a card that is not there: memory, copies, streams and events of CUDA's driver API on the processor.
 *
 * Each stream is a thread that does what it is told in order, a little later than it is told, so that whoever relies on
 * an order that nobody asked for sees the wrong bytes. Kernels are launched and do nothing: what they would compute is
 * whatever was in the memory, and everything else of a run is as on a card. The functions that are not here are in
 * `unknown.c`, which `packaging/cuda/pretend/libraries` writes: they fail.
 *
 * PRETEND_MEMORY       bytes of the card (8 GiB)
 * PRETEND_EMPTY        1: bytes are counted and not kept, so that the card may have more than the machine
 * PRETEND_CAPABILITY   compute capability, ten for each whole one (80)
 * PRETEND_DELAY        microseconds until a copy begins (2000)
 * PRETEND_LOST_AFTER   launches until the card is lost: from then on every call fails, as after an illegal access
 * PRETEND_TAKEN        bytes that another program takes
 * PRETEND_TAKEN_AFTER  ... after so many launches (0)
 * PRETEND_COUNT        1: says at the end of the process how many launches there were */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef int Result;
enum {
    OK = 0, INVALID = 1, OUT_OF_MEMORY = 2, NOT_READY = 600, ILLEGAL_ADDRESS = 700, ALREADY_REGISTERED = 712,
    NOT_REGISTERED = 713
};

static uint64_t setting(const char *name, uint64_t usual) {
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : usual;
}

/* How far it is, and what happens on the way. */
static uint64_t launches;

static uint64_t launched(void) { return __atomic_load_n(&launches, __ATOMIC_RELAXED); }
static uint64_t total(void) { return setting("PRETEND_MEMORY", 8ull << 30); }
static uint64_t taken(void) {
    return launched() >= setting("PRETEND_TAKEN_AFTER", 0) ? setting("PRETEND_TAKEN", 0) : 0;
}
static int is_empty(void) { return setting("PRETEND_EMPTY", 0) != 0; }
static int is_lost(void) { return launched() > setting("PRETEND_LOST_AFTER", UINT64_MAX - 1); }

static void rest(void) {
    struct timespec time = {0, 1000 * setting("PRETEND_DELAY", 2000)};
    if (time.tv_nsec) nanosleep(&time, NULL);
}

static void __attribute__((destructor)) say(void) {
    if (setting("PRETEND_COUNT", 0)) fprintf(stderr, "%llu launches\n", (unsigned long long)launched());
}

/* Memory. */

typedef struct Block { void *start; size_t bytes; struct Block *next; } Block;
static pthread_mutex_t memory = PTHREAD_MUTEX_INITIALIZER;
static Block *blocks, *registered;
static uint64_t used, high;

static Result take(uint64_t *address, size_t bytes) {
    if (is_lost()) return ILLEGAL_ADDRESS;
    pthread_mutex_lock(&memory);
    Result result = used + taken() + bytes > total() ? OUT_OF_MEMORY : OK;
    if (result == OK) {
        Block *block = malloc(sizeof *block);
        *block = (Block){malloc(bytes ? bytes : 1), bytes, blocks};
        /* What was there before must not matter. */
        if (!is_empty()) memset(block->start, 0xA5, bytes);
        blocks = block;
        used += bytes;
        high = used > high ? used : high;
        *address = (uintptr_t)block->start;
    }
    pthread_mutex_unlock(&memory);
    return result;
}

/* What is freed in the order of a stream may be given to the next of the same stream before its turn has come: it counts
 * as free from the call on. */
static Result count_out(uint64_t address) {
    pthread_mutex_lock(&memory);
    Block *block = blocks;
    while (block && (uintptr_t)block->start != address) block = block->next;
    if (block) used -= block->bytes;
    pthread_mutex_unlock(&memory);
    return block ? OK : INVALID;
}

static Result give(uint64_t address) {
    pthread_mutex_lock(&memory);
    Result result = INVALID;
    for (Block **place = &blocks; *place; place = &(*place)->next) {
        Block *block = *place;
        if ((uintptr_t)block->start != address) continue;
        *place = block->next;
        if (!is_empty()) memset(block->start, 0x5A, block->bytes);
        free(block->start);
        free(block);
        result = OK;
        break;
    }
    pthread_mutex_unlock(&memory);
    return result;
}

/* Events and streams. */

typedef struct { pthread_mutex_t lock; pthread_cond_t changed; uint64_t recorded, come; struct timespec at; } Event;
typedef struct Order {
    enum { COPY, FILL, FREE, MARK, WAIT } kind;
    void *to; const void *from; size_t bytes; int value; Event *event; uint64_t turn;
    struct Order *next;
} Order;
typedef struct { pthread_mutex_t lock; pthread_cond_t changed; Order *first, *last; uint64_t told, done; } Stream;

static void come(Event *event, uint64_t turn) {
    pthread_mutex_lock(&event->lock);
    if (turn > event->come) event->come = turn;
    clock_gettime(CLOCK_MONOTONIC, &event->at);
    pthread_cond_broadcast(&event->changed);
    pthread_mutex_unlock(&event->lock);
}

static void await(Event *event, uint64_t turn) {
    pthread_mutex_lock(&event->lock);
    while (event->come < turn) pthread_cond_wait(&event->changed, &event->lock);
    pthread_mutex_unlock(&event->lock);
}

static void *work(void *argument) {
    Stream *stream = argument;
    for (;;) {
        pthread_mutex_lock(&stream->lock);
        while (!stream->first) pthread_cond_wait(&stream->changed, &stream->lock);
        Order *order = stream->first;
        stream->first = order->next;
        if (!stream->first) stream->last = NULL;
        pthread_mutex_unlock(&stream->lock);
        switch (order->kind) {
        case COPY: rest(); if (!is_empty()) memcpy(order->to, order->from, order->bytes); break;
        case FILL: if (!is_empty()) memset(order->to, order->value, order->bytes); break;
        case FREE: give((uintptr_t)order->to); break;
        case MARK: come(order->event, order->turn); break;
        case WAIT: await(order->event, order->turn); break;
        }
        free(order);
        pthread_mutex_lock(&stream->lock);
        stream->done++;
        pthread_cond_broadcast(&stream->changed);
        pthread_mutex_unlock(&stream->lock);
    }
    return NULL;
}

static Stream *open_stream(void) {
    Stream *stream = calloc(1, sizeof *stream);
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->changed, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, work, stream);
    pthread_detach(thread);
    return stream;
}

static Stream *of(void *handle) {
    static Stream *usual;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    /* 0, 1 and 2 are the default streams. */
    if ((uintptr_t)handle > 2) return handle;
    pthread_mutex_lock(&lock);
    if (!usual) usual = open_stream();
    pthread_mutex_unlock(&lock);
    return usual;
}

static Result tell(void *handle, Order order) {
    if (is_lost() && order.kind != FREE && order.kind != MARK) return ILLEGAL_ADDRESS;
    Stream *stream = of(handle);
    Order *told = malloc(sizeof *told);
    *told = order;
    told->next = NULL;
    pthread_mutex_lock(&stream->lock);
    if (stream->last) stream->last->next = told; else stream->first = told;
    stream->last = told;
    stream->told++;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    return OK;
}

Result cuStreamSynchronize(void *handle) {
    Stream *stream = of(handle);
    pthread_mutex_lock(&stream->lock);
    uint64_t until = stream->told;
    while (stream->done < until) pthread_cond_wait(&stream->changed, &stream->lock);
    pthread_mutex_unlock(&stream->lock);
    return is_lost() ? ILLEGAL_ADDRESS : OK;
}

static int is_registered(const void *start) {
    int found = 0;
    pthread_mutex_lock(&memory);
    for (Block *block = registered; block; block = block->next)
        found |= (char *)start >= (char *)block->start && (char *)start < (char *)block->start + block->bytes;
    pthread_mutex_unlock(&memory);
    return found;
}

/* The host's memory that is not pinned is read before the call returns, as a real driver does. */
static Result copy_from_host(uint64_t to, const void *from, size_t bytes, void *stream) {
    Result result = tell(stream, (Order){.kind = COPY, .to = (void *)(uintptr_t)to, .from = from, .bytes = bytes});
    return is_registered(from) ? result : cuStreamSynchronize(stream);
}

Result cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream) {
    return copy_from_host(to, from, bytes, stream);
}
Result cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream) {
    if (is_empty()) memset(to, 0, bytes);
    Result result = tell(stream, (Order){.kind = COPY, .to = to, .from = (void *)(uintptr_t)from, .bytes = bytes});
    return is_registered(to) ? result : cuStreamSynchronize(stream);
}
Result cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream) {
    return tell(stream, (Order){.kind = COPY, .to = (void *)(uintptr_t)to, .from = (void *)(uintptr_t)from, .bytes = bytes});
}
Result cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream) {
    return tell(stream, (Order){.kind = FILL, .to = (void *)(uintptr_t)to, .value = value, .bytes = bytes});
}
Result cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream) { (void)stream; return take(address, bytes); }
Result cuMemFreeAsync(uint64_t address, void *stream) {
    count_out(address);
    return tell(stream, (Order){.kind = FREE, .to = (void *)(uintptr_t)address});
}
Result cuMemAlloc_v2(uint64_t *address, size_t bytes) { return take(address, bytes); }
Result cuMemFree_v2(uint64_t address) { count_out(address); return give(address); }

Result cuStreamCreate(void **stream, unsigned flags) { (void)flags; *stream = open_stream(); return OK; }
Result cuStreamDestroy_v2(void *stream) { return cuStreamSynchronize(stream); }
Result cuStreamIsCapturing(void *stream, int *status) { (void)stream; *status = 0; return OK; }

Result cuEventCreate(void **handle, unsigned flags) {
    (void)flags;
    Event *event = calloc(1, sizeof *event);
    pthread_mutex_init(&event->lock, NULL);
    pthread_cond_init(&event->changed, NULL);
    *handle = event;
    return OK;
}
/* Orders may still refer to it: what a test leaves behind is little. */
Result cuEventDestroy_v2(void *event) { (void)event; return OK; }
Result cuEventRecord(void *handle, void *stream) {
    Event *event = handle;
    pthread_mutex_lock(&event->lock);
    uint64_t turn = ++event->recorded;
    pthread_mutex_unlock(&event->lock);
    return tell(stream, (Order){.kind = MARK, .event = event, .turn = turn});
}
Result cuStreamWaitEvent(void *stream, void *handle, unsigned flags) {
    (void)flags;
    Event *event = handle;
    pthread_mutex_lock(&event->lock);
    uint64_t turn = event->recorded;
    pthread_mutex_unlock(&event->lock);
    return tell(stream, (Order){.kind = WAIT, .event = event, .turn = turn});
}
Result cuEventQuery(void *handle) {
    Event *event = handle;
    pthread_mutex_lock(&event->lock);
    Result result = event->come >= event->recorded ? OK : NOT_READY;
    pthread_mutex_unlock(&event->lock);
    return result;
}
Result cuEventSynchronize(void *handle) {
    Event *event = handle;
    pthread_mutex_lock(&event->lock);
    uint64_t turn = event->recorded;
    pthread_mutex_unlock(&event->lock);
    await(event, turn);
    return is_lost() ? ILLEGAL_ADDRESS : OK;
}
static Result elapsed(float *milliseconds, void *from, void *to) {
    Event *start = from, *end = to;
    *milliseconds = (end->at.tv_sec - start->at.tv_sec) * 1e3f + (end->at.tv_nsec - start->at.tv_nsec) / 1e6f;
    return OK;
}
Result cuEventElapsedTime(float *milliseconds, void *from, void *to) { return elapsed(milliseconds, from, to); }
Result cuEventElapsedTime_v2(float *milliseconds, void *from, void *to) { return elapsed(milliseconds, from, to); }

/* Pinned memory. */

Result cuMemHostRegister_v2(void *start, size_t bytes, unsigned flags) {
    (void)flags;
    if (is_registered(start)) return ALREADY_REGISTERED;
    pthread_mutex_lock(&memory);
    Block *block = malloc(sizeof *block);
    *block = (Block){start, bytes, registered};
    registered = block;
    pthread_mutex_unlock(&memory);
    return OK;
}
Result cuMemHostUnregister(void *start) {
    Result result = NOT_REGISTERED;
    pthread_mutex_lock(&memory);
    for (Block **place = &registered; *place; place = &(*place)->next) {
        if ((*place)->start != start) continue;
        Block *block = *place;
        *place = block->next;
        free(block);
        result = OK;
        break;
    }
    pthread_mutex_unlock(&memory);
    return result;
}
Result cuMemHostAlloc(void **start, size_t bytes, unsigned flags) {
    *start = malloc(bytes);
    return cuMemHostRegister_v2(*start, bytes, flags);
}
Result cuMemFreeHost(void *start) {
    cuMemHostUnregister(start);
    free(start);
    return OK;
}

/* Kernels. */

static int module, function;
Result cuModuleLoadData(void **handle, const void *image) { (void)image; *handle = &module; return OK; }
Result cuModuleUnload(void *handle) { (void)handle; return OK; }
Result cuModuleGetFunction(void **handle, void *of, const char *name) {
    (void)of, (void)name;
    *handle = &function;
    return OK;
}
Result cuFuncSetAttribute(void *handle, int attribute, int value) {
    (void)handle, (void)attribute, (void)value;
    return OK;
}
Result cuLaunchKernel(void *handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void *stream, void **arguments, void **extra) {
    (void)handle, (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared;
    (void)stream, (void)arguments, (void)extra;
    __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
    return is_lost() ? ILLEGAL_ADDRESS : OK;
}

/* The card and its context. */

static int context;
Result cuInit(unsigned flags) { (void)flags; return OK; }
Result cuDriverGetVersion(int *version) { *version = 13000; return OK; }
Result cuDeviceGetCount(int *count) { *count = 1; return OK; }
Result cuDeviceGet(int *device, int ordinal) { *device = 0; return ordinal == 0 ? OK : INVALID; }
Result cuDeviceGetName(char *name, int length, int device) {
    (void)device;
    snprintf(name, length, "Pretended card");
    return OK;
}
Result cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    uint64_t capability = setting("PRETEND_CAPABILITY", 80);
    /* Compute capability, memory pools. */
    *value = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : 1;
    return OK;
}
Result cuDeviceTotalMem_v2(size_t *bytes, int device) { (void)device; *bytes = total(); return OK; }
Result cuMemGetInfo_v2(size_t *available, size_t *all) {
    uint64_t mine = used, others = taken();
    *all = total();
    *available = mine + others < *all ? *all - mine - others : 0;
    return is_lost() ? ILLEGAL_ADDRESS : OK;
}
Result cuDevicePrimaryCtxRetain(void **handle, int device) { (void)device; *handle = &context; return OK; }
Result cuDevicePrimaryCtxRelease_v2(int device) { (void)device; return OK; }
static __thread void *current;
Result cuCtxSetCurrent(void *handle) { current = handle; return OK; }
Result cuCtxGetCurrent(void **handle) { *handle = current; return OK; }
Result cuCtxSetFlags(unsigned flags) { (void)flags; return OK; }
Result cuCtxSynchronize(void) { return OK; }
Result cuGetErrorName(Result error, const char **name) { (void)error; *name = "an error of the pretended driver"; return OK; }
Result cuGetErrorString(Result error, const char **name) { return cuGetErrorName(error, name); }

/* The pool that memory comes from. It gives what is freed back at once. */

static int pool;
Result cuDeviceGetMemPool(void **handle, int device) { (void)device; *handle = &pool; return OK; }
Result cuDeviceGetDefaultMemPool(void **handle, int device) { return cuDeviceGetMemPool(handle, device); }
Result cuMemPoolTrimTo(void *handle, size_t bytes) { (void)handle; (void)bytes; return OK; }
Result cuMemPoolGetAttribute(void *handle, int attribute, void *value) {
    (void)handle;
    pthread_mutex_lock(&memory);
    /* 5: reserved, 6: the most reserved, 7: used, 8: the most used. */
    *(uint64_t *)value = attribute == 8 ? high : used;
    pthread_mutex_unlock(&memory);
    return OK;
}
Result cuMemPoolSetAttribute(void *handle, int attribute, void *value) {
    (void)handle;
    pthread_mutex_lock(&memory);
    if (attribute == 8 && *(uint64_t *)value == 0) high = used;
    pthread_mutex_unlock(&memory);
    return OK;
}
