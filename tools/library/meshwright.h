/* The C ABI of libmeshwright.so: Meshwright's commands with JSON arguments and JSON answers.
 *
 * A session is the planner of this process, or of a server. A task is one command of a session,
 * which runs on threads of its own until it is done or cancelled. All texts are UTF-8. docs/json.md
 * describes the JSON. Every function may be called from any thread.
 *
 * A request is {"command": "recommend", "arguments": {"model": "llama-3-8b", "gpus": 32, …}}. The
 * arguments are the command's flags, with underscores for dashes. A value that is an object is the
 * JSON of the file that the flag would otherwise name. With "keep": ["plot"], the SVG of --plot
 * comes with the answer and is not written to a file.
 *
 * A task's events are objects with one key:
 *   {"progress": {"done": 3, "of": 8, "text": "searching 64 GPUs"}}
 *   {"output": {…}}   what the command prints with --format json; `sweep watch` prints many
 *   {"done": {"exit_code": 0, "messages": ["…"], "texts": {"plot": "<svg…"}}}   the last event
 * `done` has the key `error` if the command failed: {"code": "INVALID_ARGUMENT", "message": "…",
 * "field": "gpus"}. `field` is the argument that is wrong; it is absent if no argument is.
 * `messages` are notes that are no part of the answer.
 *
 * After fork(), a child may open sessions of its own. In the child, sessions and tasks of its
 * parent fail with the error FAILED_PRECONDITION. If the parent has used a server, the child's own
 * sessions with a server fail in the same way, since only the parent has gRPC's threads.
 */
#ifndef MESHWRIGHT_TOOLS_LIBRARY_MESHWRIGHT_H_
#define MESHWRIGHT_TOOLS_LIBRARY_MESHWRIGHT_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_session mw_session;
typedef struct mw_task mw_task;

/* Returns the version of Meshwright, such as "0.2.0". */
const char* mw_version(void);

/* Opens a session. `arguments` is a JSON object with defaults for the arguments of the session's
 * requests; a default applies to each command that has the argument. {} stands for this process's
 * own planner, and {"server": "10.0.0.1:7077", "tls_ca": "ca.pem", "token_file": "token"} for a
 * server's, to which the first request connects. On failure, returns NULL and sets *error to
 * {"error": {…}}, which the caller frees with mw_free_text(). */
mw_session* mw_open(const char* arguments, char** error);
/* Closes the session. Its tasks go on. `session` may be NULL. */
void mw_close(mw_session* session);

/* Starts the request's command. Never returns NULL: an error in the request is reported by the
 * task's last event. */
mw_task* mw_start(mw_session* session, const char* request);
/* Returns the task's next event, which the caller frees with mw_free_text(). Waits for at most
 * `timeout_ms` milliseconds, and returns NULL if no event came. After the last event, returns NULL
 * immediately. */
char* mw_next(mw_task* task, int32_t timeout_ms);
/* Asks the task to end soon, with the error CANCELLED unless it is done already. */
void mw_cancel(mw_task* task);
/* Cancels the task, waits for its threads and frees it. `task` may be NULL. */
void mw_free(mw_task* task);

/* Runs a request to its end and returns {"outputs": [{…}], "done": {…}}, the values of its events
 * `output` and `done`. The caller frees the text with mw_free_text(). */
char* mw_call(mw_session* session, const char* request);

/* Frees a text that a function here returned. `text` may be NULL. */
void mw_free_text(char* text);

/* Runs the program `meshwright` with its command line, and returns its exit code. Only that program
 * may call this function, which uses the process's own streams and signals. */
int mw_main(int argc, char** argv);

#ifdef __cplusplus
}
#endif

#endif /* MESHWRIGHT_TOOLS_LIBRARY_MESHWRIGHT_H_ */
