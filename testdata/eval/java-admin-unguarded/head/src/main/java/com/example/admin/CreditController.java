package com.example.admin;

import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.Positive;
import java.security.Principal;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/api/admin")
public class CreditController {

  private final CreditService credits;

  public CreditController(CreditService credits) {
    this.credits = credits;
  }

  @GetMapping("/customers/{id}/credit")
  @PreAuthorize("hasRole('FINANCE')")
  public List<CreditView> list(@PathVariable long id) {
    return credits.of(id).stream().map(CreditView::of).toList();
  }

  /** What is given, in cents: at most 500 euros at a time. */
  public record GiveCredit(
      @Positive @Max(50_000) long cents, @NotBlank String reason) {}

  @PostMapping("/customers/{id}/credit")
  @ResponseStatus(HttpStatus.CREATED)
  public CreditView give(
      @PathVariable long id, @Valid @RequestBody GiveCredit body, Principal principal) {
    Credit credit = credits.give(id, body.cents(), body.reason(), principal.getName());
    return CreditView.of(credit);
  }

  @DeleteMapping("/credit/{creditId}")
  @PreAuthorize("hasRole('FINANCE')")
  public void takeBack(@PathVariable long creditId) {
    credits.takeBack(creditId);
  }
}
