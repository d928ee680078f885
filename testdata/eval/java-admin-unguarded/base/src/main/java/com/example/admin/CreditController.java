package com.example.admin;

import java.util.List;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
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

  @DeleteMapping("/credit/{creditId}")
  @PreAuthorize("hasRole('FINANCE')")
  public void takeBack(@PathVariable long creditId) {
    credits.takeBack(creditId);
  }
}
