/* A client of `gyrostat serve scenario.toml` in C99, for little-endian machines: brakes the joints.
   cc -std=c99 client.c -o client && ./client [port] */
#define _POSIX_C_SOURCE 200112L
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int link_;
static void all(void *p, size_t n) { /* the next n bytes, or the end */
    for (char *c = p; n > 0;) { ssize_t k = read(link_, c, n); if (k <= 0) { fputs("the server is gone\n", stderr); exit(1); } c += k; n -= (size_t)k; }
}
int main(int argc, char **argv) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)(argc > 1 ? atoi(argv[1]) : 8090))};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    link_ = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(link_, (struct sockaddr *)&to, sizeof to)) { perror("connect"); return 1; }
    uint32_t head[2], sizes[4];                     /* length, kind; version, nq, nv, 0 */
    double times[2], state[256], load[128] = {0};   /* dt, t */
    all(head, 8); all(sizes, 16); all(times, 16);
    uint32_t nq = sizes[1], nv = sizes[2], standing[2] = {0, 0};
    uint64_t counts[2] = {0, 0};                    /* tick, missed */
    while (standing[0] == 0) {
        all(head, 8);
        if (head[1] == 3) { char words[1024] = {0}; all(words, head[0] - 4 < 1023 ? head[0] - 4 : 1023); fputs(words, stderr); return 1; }
        all(standing, 8); all(counts, 16); all(times + 1, 8); all(state, 8 * (nq + nv));
        for (uint32_t k = 6; k < nv; k++) load[k] = -20.0 * state[nq + k];
        uint32_t out[2] = {4 + 8 * nv, 4};
        if (write(link_, out, 8) != 8 || write(link_, load, 8 * nv) != (ssize_t)(8 * nv)) break;
    }
    printf("t = %g s, %llu deadlines missed\n", times[1], (unsigned long long)counts[1]);
    return 0;
}
