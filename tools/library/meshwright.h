/* The C ABI of libmeshwright.so: Meshwright's commands with JSON arguments and JSON answers.
 *
 * A session is the planner of this process, or of a server. A task is one command of a session,
 * which runs on threads of its own until it is done or cancelled. All texts are UTF-8; JSON is that
 * which docs/json.md describes. Every function may be called from any thread.
 *
 * A request is {"command": "recommend", "arguments": {"model": "llama-3-8b", "gpus": 32, …}}. The
 * arguments are the command's flags, with underscores for dashes; an object as a value is the JSON
 * of the file that the flag would name. With "keep": ["plot"], the SVG of --plot comes with the
 * answer and is not written to a file.
 *
 * A task's events are objects with one key:
 *   {"progress": {"done": 3, "of": 8, "text": "searching 64 GPUs"}}
 *   {"output": {…}}   what the command prints with --format json; `sweep watch` prints many
 *   {"done": {"exit_code": 0, "messages": ["…"], "texts": {"plot": "<svg…"}}}   the last event
 * `done` has the key `error` if the command failed: {"code": "INVALID_ARGUMENT", "message": "…",
 * "field": "gpus"}, where `field` is the argument that is off, absent where none is. `messages` are
 * notes that are no part of the answer.
 *
 * After fork(), a child may open sessions of its own. Sessions and tasks of its parent fail there
 * with the error FAILED_PRECONDITION, and so does every session with a server if the parent has
 * used one: gRPC's threads are the parent's alone.
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

/* Opens a session. `arguments` is a JSON object of arguments that every request of the session has
 * if its command knows them and the request does not give them: {} for this process's own planner,
 * {"server": "10.0.0.1:7077", "tls_ca": "ca.pem", "token_file": "token"} for a server's, which the
 * first request connects to. On failure, returns NULL and sets *error to {"error": {…}}, which the
 * caller frees with mw_free_text(). */
mw_session* mw_open(const char* arguments, char** error);
/* Closes the session. Its tasks go on. `session` may be NULL. */
void mw_close(mw_session* session);

/* Starts the request's command. Never returns NULL: what is wrong with the request is an event. */
mw_task* mw_start(mw_session* session, const char* request);
/* Returns the task's next event, which the caller frees with mw_free_text(). Waits for it for at
 * most `timeout_ms` milliseconds; returns NULL if none came, and at once behind the last event. */
char* mw_next(mw_task* task, int32_t timeout_ms);
/* Asks the task to end soon, with the error CANCELLED unless it is done already. */
void mw_cancel(mw_task* task);
/* Cancels the task, waits for its threads and frees it. `task` may be NULL. */
void mw_free(mw_task* task);

/* Runs a request to its end and returns {"outputs": [{…}], "done": {…}}: what its events of these
 * kinds hold. The caller frees it with mw_free_text(). */
char* mw_call(mw_session* session, const char* request);

/* Frees a text that a function here returned. `text` may be NULL. */
void mw_free_text(char* text);

/* Runs the program `meshwright` with its command line, and returns its exit code. For the program
 * alone: it takes the process's streams and signals. */
int mw_main(int argc, char** argv);

#ifdef __cplusplus
}
#endif

#endif /* MESHWRIGHT_TOOLS_LIBRARY_MESHWRIGHT_H_ */
