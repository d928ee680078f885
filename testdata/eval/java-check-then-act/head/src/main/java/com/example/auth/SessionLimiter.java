package com.example.auth;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.stereotype.Component;

/** Keeps users from having more than a few sessions at a time. */
@Component
public class SessionLimiter {

  private static final int MAX_SESSIONS = 5;

  private final Map<Long, List<String>> open = new ConcurrentHashMap<>();

  /** Takes a session in, or returns false where the user has too many. */
  public boolean tryOpen(long userId, String sessionId) {
    List<String> sessions = open.computeIfAbsent(userId, id -> new ArrayList<>());
    if (sessions.size() >= MAX_SESSIONS) {
      return false;
    }
    sessions.add(sessionId);
    return true;
  }

  /** Forgets a session that has ended. */
  public void close(long userId, String sessionId) {
    open.computeIfPresent(
        userId,
        (id, sessions) -> {
          sessions.remove(sessionId);
          return sessions.isEmpty() ? null : sessions;
        });
  }
}
