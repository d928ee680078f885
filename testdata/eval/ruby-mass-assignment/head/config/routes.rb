Rails.application.routes.draw do
  devise_for :users
  root "home#show"
  resource :profile, only: %i[edit update]
end
