/* A cuRAND without random numbers. The tensor library makes a generator for each GPU and Sluice never asks it for a number:
 * noise comes from the CPU. So a machine that has no cuRAND (100 MB) can do without it. */

enum { SUCCESS = 0, LAUNCH_FAILURE = 201 };

int curandCreateGenerator(void **generator, int kind) {
    (void)kind;
    *generator = generator;
    return SUCCESS;
}
int curandDestroyGenerator(void *generator) { (void)generator; return SUCCESS; }
int curandSetStream(void *generator, void *stream) { (void)generator, (void)stream; return SUCCESS; }
int curandSetPseudoRandomGeneratorSeed(void *generator, unsigned long long seed) {
    (void)generator, (void)seed;
    return SUCCESS;
}
int curandGenerateNormal(void) { return LAUNCH_FAILURE; }
int curandGenerateNormalDouble(void) { return LAUNCH_FAILURE; }
int curandGenerateUniform(void) { return LAUNCH_FAILURE; }
int curandGenerateUniformDouble(void) { return LAUNCH_FAILURE; }
