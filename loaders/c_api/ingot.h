/* Ingot for programs in C and whatever calls C: loads a model that was compiled
 * and runs it.
 *
 *   IngotModel* model;
 *   IngotExecutor* executor;
 *   DLTensor x = ..., y;
 *   if (ingot_load("model.so", NULL, &model) != INGOT_OK ||
 *       ingot_create_executor(model, &executor) != INGOT_OK ||
 *       ingot_set_input(executor, 0, &x) != INGOT_OK ||
 *       ingot_run(executor) != INGOT_OK ||
 *       ingot_get_output(executor, 0, &y) != INGOT_OK) {
 *     fprintf(stderr, "%s\n", ingot_last_error());
 *   }
 *   ingot_free_executor(executor);
 *   ingot_free_model(model);
 *
 * Threads: functions may be called from any thread. A model is constant and may
 * be used by several at once; an executor by one at a time.
 *
 * Stability: functions and numbers keep their meaning. New ones are added, and
 * fields at the end of IngotLoadOptions; ingot_api_version() then grows.
 *
 * What runs is code from the model's file: load only what you trust. */
#ifndef INGOT_LOADERS_C_API_INGOT_H_
#define INGOT_LOADERS_C_API_INGOT_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/c_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define INGOT_API __attribute__((visibility("default")))
#else
#define INGOT_API
#endif

/* 2 added sets and variants, 3 loaders of the caller's own, 4 constants for
 * them, 5 states, 6 ingot_prepare. */
#define INGOT_API_VERSION 6

/* The version of the library; at least that of the header it is used with. */
INGOT_API int32_t ingot_api_version(void);

/* ---- Errors ---------------------------------------------------------------
 */

/* A function returns one of these codes, which are those of Abseil's
 * StatusCode; others of them may occur. When it is not INGOT_OK, the results
 * that the function would have given are left as they were. */
typedef int32_t IngotStatus;
enum {
  INGOT_OK = 0,
  INGOT_INVALID_ARGUMENT = 3,    /* the caller's mistake, or a file's */
  INGOT_NOT_FOUND = 5,           /* a file, a loader, a function */
  INGOT_RESOURCE_EXHAUSTED = 8,  /* no memory */
  INGOT_FAILED_PRECONDITION = 9, /* not here or not now: another processor, a
                                  * set that is not linked, no inputs yet */
  INGOT_ABORTED = 10,            /* a function of the caller's own failed */
  INGOT_UNIMPLEMENTED = 12,      /* made by a newer compiler */
  INGOT_INTERNAL = 13,           /* a mistake of Ingot's */
  INGOT_DATA_LOSS = 15           /* a file that was damaged or edited */
};

/* The text of this thread's last failure, for a person; "" before the first.
 * Valid until this thread calls another function of this header. */
INGOT_API const char* ingot_last_error(void);

/* Says what went wrong, in one line, which is copied. Functions of the caller's
 * own call it before they return another status than INGOT_OK. */
INGOT_API void ingot_set_error(const char* message);

/* ---- Loaders of the caller's own ------------------------------------------
 */

/* One artifact; its path is target_key/codegen_id/file_name. */
typedef struct IngotArtifact {
  const char* target_key;
  const char* codegen_id;
  const char* loader;
  const char* file_name;
  const void* bytes;
  size_t size;
} IngotArtifact;

/* A function that a loaded model calls. */
typedef struct IngotFunction {
  const char* name; /* the symbol of a region */
  /* Computes: reads the tensors of the region's inputs, which come first, and
   * writes those of its outputs. All are dense, row-major and in memory of a
   * CPU, and are the function's until it returns. It may be called from several
   * threads at once. */
  IngotStatus (*call)(void* self, DLTensor* const* tensors, int32_t count);
  void* self;
  /* Called with `self` when nothing can call the function any more, on any
   * thread; NULL: nothing is to be done then. */
  void (*free_self)(void* self);
} IngotFunction;

/* A loader fills this with functions; it lives until the loader returns. */
typedef struct IngotModule IngotModule;

/* Adds a function, of which the name is copied. On a failure, such as a name
 * that is taken, `self` stays the caller's. */
INGOT_API IngotStatus ingot_add_function(IngotModule* module,
                                         const IngotFunction* function);

/* Gives a constant of the loader's regions by the key that the code generator
 * was told (docs/external_backends.md). Its memory, which is only to be read
 * and may be that of the mapped file, stays until the deleter is called. The
 * function may be called only while the loader runs. NotFound where the set has
 * no such constant. */
INGOT_API IngotStatus ingot_export_constant(const IngotModule* module,
                                            const char* key,
                                            DLManagedTensor** tensor);

/* Turns artifacts into functions. */
typedef struct IngotLoader {
  const char* name; /* that artifacts have as their loader */
  /* Called once for each target key of which artifacts name the loader, with
   * those. They live until it returns. */
  IngotStatus (*load)(void* self, const IngotArtifact* artifacts, int32_t count,
                      IngotModule* module);
  void* self;
} IngotLoader;

/* ---- Models ---------------------------------------------------------------
 */

typedef struct IngotModel IngotModel;

typedef struct IngotLoadOptions {
  size_t size; /* sizeof(IngotLoadOptions), by which the library knows which
                * fields there are */
  /* The number of threads that a run may use, the calling one included; 0 is
   * 1. */
  int32_t threads;
  /* Not 0: weights are compared with their digests, which reads all of them.
   * The rest always is. */
  int32_t check_digests;
  /* The variant to load of a set that has several; NULL or "" for the best
   * that can run here. */
  const char* variant;
  /* Loaders beside those of the library, in effect during the call alone. A
   * name that the library has itself is an error. */
  const IngotLoader* loaders;
  int32_t num_loaders;
} IngotLoadOptions;

/* Opens a library that `ingot link` made, or a set with nothing to link.
 * Weights are mapped, not copied. NULL for options that are all 0. */
INGOT_API IngotStatus ingot_load(const char* path,
                                 const IngotLoadOptions* options,
                                 IngotModel** model);

/* The same for the bytes of such a file. They are not copied: they must stay as
 * they are until the model, its executors and all exported outputs are freed.
 */
INGOT_API IngotStatus ingot_load_memory(const void* bytes, size_t size,
                                        const IngotLoadOptions* options,
                                        IngotModel** model);

/* The variant that was loaded; "" of a set without variants. Lives as long as
 * the model. */
INGOT_API const char* ingot_variant(const IngotModel* model);

/* Executors keep what they need. NULL is allowed. */
INGOT_API void ingot_free_model(IngotModel* model);

/* The inputs or outputs, in the model's order, and their number; they live as
 * long as the model. A sequence of tensors, which these functions can neither
 * set nor get, has ndim -1. */
INGOT_API const IngotTensorInfo* ingot_inputs(const IngotModel* model,
                                              int32_t* count);
INGOT_API const IngotTensorInfo* ingot_outputs(const IngotModel* model,
                                               int32_t* count);

/* The type for a person, with the names of dimensions: "f32[batch, 3]". NULL
 * unless there is such an input or output. */
INGOT_API const char* ingot_input_type(const IngotModel* model, int32_t index);
INGOT_API const char* ingot_output_type(const IngotModel* model, int32_t index);

/* ---- Runs -----------------------------------------------------------------
 */

typedef struct IngotExecutor IngotExecutor;

/* An executor has the memory for one run at a time. */
INGOT_API IngotStatus ingot_create_executor(const IngotModel* model,
                                            IngotExecutor** executor);
/* NULL is allowed. */
INGOT_API void ingot_free_executor(IngotExecutor* executor);

/* The next runs read the tensor's elements: they are not copied, must stay
 * where they are until another tensor is set or the executor is freed, and may
 * change between runs. The structure itself is not kept. InvalidArgument unless
 * it has the input's type, rank and fixed dimensions, is dense and row-major,
 * aligned to its elements, and in memory of a CPU. */
INGOT_API IngotStatus ingot_set_input(IngotExecutor* executor, int32_t index,
                                      const DLTensor* tensor);

/* Takes the memory that a run with the inputs that are set needs, without
 * running: runs with these or smaller shapes then take no more. Errors as of
 * ingot_run. Since version 6. */
INGOT_API IngotStatus ingot_prepare(IngotExecutor* executor);

/* Computes the outputs. FailedPrecondition where an input was never set,
 * InvalidArgument where inputs disagree about a dimension. */
INGOT_API IngotStatus ingot_run(IngotExecutor* executor);

/* The output of the last run, of which `*tensor` shows the memory: nothing is
 * copied, and the next run or another ingot_get_output of this output ends it.
 * It is to be read only. */
INGOT_API IngotStatus ingot_get_output(IngotExecutor* executor, int32_t index,
                                       DLTensor* tensor);

/* The same for another library that takes DLPack's tensors: the memory stays
 * until that calls the deleter, even without the executor, though the next run
 * may change its elements. */
INGOT_API IngotStatus ingot_export_output(IngotExecutor* executor,
                                          int32_t index,
                                          DLManagedTensor** tensor);

/* ---- States ---------------------------------------------------------------
 */

/* Values that stay from run to run, which runs change in place, such as the
 * keys and values of the words that a language model has seen: none, unless the
 * model was compiled with some (`ingot compile --state`). Each executor has its
 * own, all zeros at first. */
INGOT_API const IngotTensorInfo* ingot_states(const IngotModel* model,
                                              int32_t* count);
/* The type for a person. NULL unless there is such a state. */
INGOT_API const char* ingot_state_type(const IngotModel* model, int32_t index);

/* Shows the memory of a state, which the caller may read and change between
 * runs, until ingot_set_state replaces it or the executor is freed.
 * ResourceExhausted where there is no memory for it. */
INGOT_API IngotStatus ingot_get_state(IngotExecutor* executor, int32_t index,
                                      DLTensor* tensor);

/* The next runs read and change the tensor's elements instead: they are not
 * copied, and must stay where they are until another tensor is set or the
 * executor is freed. So one executor goes on with several sequences in turn.
 * The structure itself is not kept. InvalidArgument unless it is of the state's
 * type, and as ingot_set_input. */
INGOT_API IngotStatus ingot_set_state(IngotExecutor* executor, int32_t index,
                                      const DLTensor* tensor);

/* Makes all elements of all states zeros, where they are. */
INGOT_API IngotStatus ingot_reset_states(IngotExecutor* executor);

/* ---- Sets -----------------------------------------------------------------
 */

/* Everything that compiling a model made, as data: nothing of it runs. */
typedef struct IngotSet IngotSet;

/* Opens a .ingot file, a directory that was dumped, or what a linked library
 * carries beside its native code. Files are mapped, not copied. A directory
 * whose artifacts, or the plan's text, were edited is an error: `ingot pack`
 * makes a file of it. */
INGOT_API IngotStatus ingot_open_set(const char* path, IngotSet** set);
/* NULL is allowed. */
INGOT_API void ingot_free_set(IngotSet* set);

/* Returns the number of artifacts, which are sorted by path. */
INGOT_API int32_t ingot_set_size(const IngotSet* set);

/* Shows an artifact. Its bytes live as long as the set, its names until an
 * artifact is replaced. */
INGOT_API IngotStatus ingot_get_artifact(const IngotSet* set, int32_t index,
                                         IngotArtifact* artifact);

/* Gives an artifact other bytes, which are copied, and writes down in the set
 * that it was edited. Files do not change. */
INGOT_API IngotStatus ingot_replace_artifact(IngotSet* set, int32_t index,
                                             const void* bytes, size_t size);

/* Writes a .ingot file, which appears whole or not at all. */
INGOT_API IngotStatus ingot_write_set(const IngotSet* set, const char* path);

#ifdef __cplusplus
}
#endif

#endif /* INGOT_LOADERS_C_API_INGOT_H_ */
