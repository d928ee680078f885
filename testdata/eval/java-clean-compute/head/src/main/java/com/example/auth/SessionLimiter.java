package com.example.auth;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Keeps users from having more than a few sessions at a time. Safe for threads. */
public final class SessionLimiter {

  private static final int MAX_SESSIONS = 5;

  private final Map<Long, Set<String>> open = new ConcurrentHashMap<>();

  /** Takes a session in, or returns false where the user has too many. */
  public boolean tryOpen(long userId, String sessionId) {
    Set<String> after =
        open.compute(
            userId,
            (id, sessions) -> {
              if (sessions == null) {
                return Set.of(sessionId);
              }
              if (sessions.size() >= MAX_SESSIONS) {
                return sessions;
              }
              return Stream.concat(sessions.stream(), Stream.of(sessionId))
                  .collect(Collectors.toUnmodifiableSet());
            });
    return after.contains(sessionId);
  }

  /** Forgets a session that has ended. */
  public void close(long userId, String sessionId) {
    open.computeIfPresent(
        userId,
        (id, sessions) -> {
          Set<String> left =
              sessions.stream()
                  .filter(s -> !s.equals(sessionId))
                  .collect(Collectors.toUnmodifiableSet());
          return left.isEmpty() ? null : left;
        });
  }
}
